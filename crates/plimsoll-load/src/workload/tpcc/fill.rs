//! The rows of the initial population, table by table (clause 4.3.3.1).

use plimsoll_stats::Rng;

use super::random::{CUSTOMERS, Constants, DISTRICTS, ITEMS, RandomText, int, last_name};
use super::rows::RowSink;

/// Orders below this one are delivered (clause 4.3.3.1: the last 900 of each district's 3,000 are not).
pub const FIRST_NEW_ORDER: i32 = 2_101;

const CENTS: i64 = 100;

/// Makes rows of one chunk.
pub struct Filler {
    rng: Rng,
    text: RandomText,
    warehouse: i32,
    now: i64,
}

impl Filler {
    /// `now` in microseconds since 1970-01-01 UTC.
    pub fn new(rng: Rng, warehouse: i32, now: i64) -> Self {
        Self {
            rng,
            text: RandomText::default(),
            warehouse,
            now,
        }
    }

    fn letters(&mut self, low: usize, high: usize, sink: &mut impl RowSink) {
        sink.text(self.text.letters(&mut self.rng, low, high));
    }

    fn int(&mut self, low: i32, high: i32) -> i32 {
        int(&mut self.rng, low, high)
    }

    /// Streets, city, state, zip.
    fn address(&mut self, sink: &mut impl RowSink) {
        self.letters(10, 20, sink);
        self.letters(10, 20, sink);
        self.letters(10, 20, sink);
        sink.text(self.text.state(&mut self.rng));
        sink.text(self.text.zip(&mut self.rng));
    }

    /// i_id, i_im_id, i_name, i_price, i_data
    pub fn items(&mut self, sink: &mut impl RowSink) {
        for item in 1..=ITEMS {
            sink.int(item);
            sink.int(self.int(1, 10_000));
            self.letters(14, 24, sink);
            sink.cents(i64::from(self.int(100, 10_000)));
            sink.text(self.text.data(&mut self.rng));
            sink.end_row();
        }
    }

    /// w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd
    pub fn warehouse(&mut self, sink: &mut impl RowSink) {
        sink.int(self.warehouse);
        self.letters(6, 10, sink);
        self.address(sink);
        sink.rate(self.int(0, 2_000));
        sink.cents(300_000 * CENTS);
        sink.end_row();
    }

    /// d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id
    pub fn districts(&mut self, sink: &mut impl RowSink) {
        for district in 1..=DISTRICTS {
            sink.int(district);
            sink.int(self.warehouse);
            self.letters(6, 10, sink);
            self.address(sink);
            sink.rate(self.int(0, 2_000));
            sink.cents(30_000 * CENTS);
            sink.int(CUSTOMERS + 1);
            sink.end_row();
        }
    }

    /// c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
    /// c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data
    pub fn customers(&mut self, constants: &Constants, sink: &mut impl RowSink) {
        let names: Vec<String> = (0..1000).map(last_name).collect();
        for (district, customer) in district_and(CUSTOMERS) {
            sink.int(customer);
            sink.int(district);
            sink.int(self.warehouse);
            self.letters(8, 16, sink);
            sink.text("OE");
            let name = if customer <= 1000 {
                customer - 1
            } else {
                constants.load_last_name(&mut self.rng)
            };
            sink.text(&names[name as usize]);
            self.address(sink);
            sink.text(self.text.digits(&mut self.rng, 16));
            sink.timestamp(self.now);
            sink.text(if self.rng.percent(10) { "BC" } else { "GC" });
            sink.cents(50_000 * CENTS);
            sink.rate(self.int(0, 5_000));
            sink.cents(-10 * CENTS);
            sink.cents(10 * CENTS);
            sink.int(1);
            sink.int(0);
            self.letters(300, 500, sink);
            sink.end_row();
        }
    }

    /// h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data
    pub fn history(&mut self, sink: &mut impl RowSink) {
        for (district, customer) in district_and(CUSTOMERS) {
            sink.int(customer);
            sink.int(district);
            sink.int(self.warehouse);
            sink.int(district);
            sink.int(self.warehouse);
            sink.timestamp(self.now);
            sink.cents(10 * CENTS);
            self.letters(12, 24, sink);
            sink.end_row();
        }
    }

    /// s_i_id, s_w_id, s_quantity, s_dist_01 to s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data
    pub fn stock(&mut self, sink: &mut impl RowSink) {
        let mut dist = [0u8; 240];
        for item in 1..=ITEMS {
            sink.int(item);
            sink.int(self.warehouse);
            sink.int(self.int(10, 100));
            self.rng.fill_letters(&mut dist);
            let dist = std::str::from_utf8(&dist).expect("letters and digits are ASCII");
            (0..10).for_each(|i| sink.text(&dist[i * 24..(i + 1) * 24]));
            sink.int(0);
            sink.int(0);
            sink.int(0);
            sink.text(self.text.data(&mut self.rng));
            sink.end_row();
        }
    }

    /// o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local
    pub fn orders(
        &mut self,
        district: i32,
        line_counts: impl Iterator<Item = i32>,
        sink: &mut impl RowSink,
    ) {
        let mut customers: Vec<i32> = (1..=CUSTOMERS).collect();
        self.rng.shuffle(&mut customers);
        for ((order, customer), lines) in (1..).zip(customers).zip(line_counts) {
            sink.int(order);
            sink.int(district);
            sink.int(self.warehouse);
            sink.int(customer);
            sink.timestamp(self.now);
            if order < FIRST_NEW_ORDER {
                sink.int(self.int(1, 10));
            } else {
                sink.null();
            }
            sink.int(lines);
            sink.int(1);
            sink.end_row();
        }
    }

    /// no_o_id, no_d_id, no_w_id
    pub fn new_orders(&mut self, sink: &mut impl RowSink) {
        for district in 1..=DISTRICTS {
            for order in FIRST_NEW_ORDER..=CUSTOMERS {
                sink.int(order);
                sink.int(district);
                sink.int(self.warehouse);
                sink.end_row();
            }
        }
    }

    /// ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info
    pub fn order_lines(
        &mut self,
        district: i32,
        line_counts: impl Iterator<Item = i32>,
        sink: &mut impl RowSink,
    ) {
        for (order, lines) in (1..).zip(line_counts) {
            for number in 1..=lines {
                sink.int(order);
                sink.int(district);
                sink.int(self.warehouse);
                sink.int(number);
                sink.int(self.int(1, ITEMS));
                sink.int(self.warehouse);
                if order < FIRST_NEW_ORDER {
                    sink.timestamp(self.now);
                    sink.int(5);
                    sink.cents(0);
                } else {
                    sink.null();
                    sink.int(5);
                    sink.cents(i64::from(self.int(1, 999_999)));
                }
                self.letters(24, 24, sink);
                sink.end_row();
            }
        }
    }
}

/// Every district with every number up to `last`.
fn district_and(last: i32) -> impl Iterator<Item = (i32, i32)> {
    (1..=DISTRICTS).flat_map(move |district| (1..=last).map(move |n| (district, n)))
}

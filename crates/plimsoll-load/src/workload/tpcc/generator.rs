//! Draws what one virtual user does: which transaction, with which inputs, after which keying and think time.

use plimsoll_plan::resolved::{Home, Pacing, TPCC_DECK, Tpcc};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Seeds;
use plimsoll_stats::Rng;

use super::input::{
    CustomerBy, Delivery, Line, NewOrder, OrderStatus, Payment, StockLevel, TpccInput,
};
use super::random::{Constants, DISTRICTS, ITEMS, int, last_name};

/// An item that no warehouse has (clause 2.4.1.5): the last line of a New-Order that is to roll back.
pub const UNUSED_ITEM: i32 = ITEMS + 1;

/// Clause 5.2.5.7: keying times in seconds.
const KEYING_S: [f64; 5] = [18.0, 3.0, 2.0, 2.0, 2.0];

/// Clause 5.2.5.7: mean think times in seconds.
const THINK_S: [f64; 5] = [12.0, 12.0, 10.0, 5.0, 5.0];

/// One virtual user's inputs. Equal seeds and user numbers give equal sequences.
#[derive(Debug, Clone)]
pub struct TpccGenerator {
    rng: Rng,
    constants: Constants,
    warehouses: i32,
    home: Home,
    /// The user's own warehouse when home is fixed.
    warehouse: i32,
    /// The user's own district when home is fixed, for Stock-Level (clause 2.8.1.1).
    district: i32,
    deck: Vec<u8>,
}

impl TpccGenerator {
    /// `user` counts from 0. C of the last names depends on the seed of the population (clause 2.1.6.1).
    pub fn new(seeds: impl Into<Seeds>, round: u32, user: u32, tpcc: &Tpcc) -> Self {
        let Seeds { load, data } = seeds.into();
        let warehouses = tpcc.warehouses.max(1);
        Self {
            rng: Rng::stream(
                load,
                &[
                    u64::from_be_bytes(*b"tpccuser"),
                    u64::from(round),
                    u64::from(user),
                ],
            ),
            constants: Constants::new(data),
            warehouses: warehouses as i32,
            home: tpcc.home,
            warehouse: 1 + (user % warehouses) as i32,
            district: 1 + (user / warehouses % DISTRICTS as u32) as i32,
            deck: Vec::with_capacity(100),
        }
    }

    /// The next business transaction's input.
    #[expect(
        clippy::should_implement_trait,
        reason = "never ends, so it is no iterator"
    )]
    pub fn next(&mut self) -> TpccInput {
        let warehouse = match self.home {
            Home::Fixed => self.warehouse,
            Home::Roaming => self.int(1, self.warehouses),
        };
        match self.card() {
            0 => TpccInput::NewOrder(self.new_order(warehouse)),
            1 => TpccInput::Payment(self.payment(warehouse)),
            2 => TpccInput::OrderStatus(OrderStatus {
                warehouse,
                district: self.int(1, DISTRICTS),
                customer: self.customer(),
            }),
            3 => TpccInput::Delivery(Delivery {
                warehouse,
                carrier: self.int(1, 10),
            }),
            _ => {
                let district = match self.home {
                    Home::Fixed => self.district,
                    Home::Roaming => self.int(1, DISTRICTS),
                };
                TpccInput::StockLevel(StockLevel {
                    warehouse,
                    district,
                    threshold: self.int(10, 20),
                })
            }
        }
    }

    fn int(&mut self, low: i32, high: i32) -> i32 {
        int(&mut self.rng, low, high)
    }

    fn card(&mut self) -> u8 {
        if self.deck.is_empty() {
            for (txn, &cards) in (0..).zip(&TPCC_DECK) {
                self.deck
                    .extend(std::iter::repeat_n(txn, usize::from(cards)));
            }
            self.rng.shuffle(&mut self.deck);
        }
        self.deck.pop().expect("a deck has been dealt just now")
    }

    /// Any warehouse but this one; this one when there is no other.
    fn other_warehouse(&mut self, warehouse: i32) -> i32 {
        if self.warehouses == 1 {
            return warehouse;
        }
        let other = self.int(1, self.warehouses - 1);
        if other >= warehouse { other + 1 } else { other }
    }

    /// Clause 2.4.1.
    fn new_order(&mut self, warehouse: i32) -> NewOrder {
        let district = self.int(1, DISTRICTS);
        let customer = self.constants.customer_id(&mut self.rng);
        let count = self.int(5, 15);
        let rolls_back = self.rng.percent(1);
        let mut lines: Vec<Line> = (0..count).map(|_| self.line(warehouse)).collect();
        if let (true, Some(last)) = (rolls_back, lines.last_mut()) {
            last.item = UNUSED_ITEM;
        }
        NewOrder {
            warehouse,
            district,
            customer,
            lines,
        }
    }

    /// Clause 2.4.1.5: one line in a hundred is supplied by another warehouse.
    fn line(&mut self, warehouse: i32) -> Line {
        let item = self.constants.item_id(&mut self.rng);
        let supply_warehouse = if self.rng.percent(1) {
            self.other_warehouse(warehouse)
        } else {
            warehouse
        };
        Line {
            item,
            supply_warehouse,
            quantity: self.int(1, 10),
        }
    }

    /// Clause 2.5.1: 15 % of the payments come from customers of other warehouses. With a single warehouse every
    /// customer is at home.
    fn payment(&mut self, warehouse: i32) -> Payment {
        let district = self.int(1, DISTRICTS);
        let remote = !self.rng.percent(85) && self.warehouses > 1;
        let (customer_warehouse, customer_district) = if remote {
            (self.other_warehouse(warehouse), self.int(1, DISTRICTS))
        } else {
            (warehouse, district)
        };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: self.customer(),
            amount_cents: i64::from(self.int(100, 500_000)),
        }
    }

    /// Clauses 2.5.1.2, 2.6.1.2: 60 % by last name, 40 % by number.
    fn customer(&mut self) -> CustomerBy {
        if self.rng.percent(60) {
            CustomerBy::LastName(last_name(self.constants.run_last_name(&mut self.rng)))
        } else {
            CustomerBy::Id(self.constants.customer_id(&mut self.rng))
        }
    }
}

/// Keying time before and think time after a transaction (clause 5.2.5.7), scaled by the plan's factors. Think times are
/// negative exponential and cut at ten times their mean (clause 5.2.5.4).
pub fn pacing(txn: usize, rng: &mut Rng, pacing: &Pacing) -> (Nanos, Nanos) {
    let keying = KEYING_S[txn] * pacing.keying;
    let mean = THINK_S[txn] * pacing.think;
    (
        Nanos::from_secs_f64(keying),
        Nanos::from_secs_f64(rng.exponential(mean).min(10.0 * mean)),
    )
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::resolved::TxnMode;

    use super::*;

    fn tpcc(warehouses: u32, home: Home) -> Tpcc {
        Tpcc {
            warehouses,
            mode: TxnMode::Statements,
            home,
        }
    }

    fn draw(seed: u64, user: u32, tpcc: &Tpcc, count: usize) -> Vec<TpccInput> {
        let mut generator = TpccGenerator::new(seed, 0, user, tpcc);
        (0..count).map(|_| generator.next()).collect()
    }

    fn share(hits: usize, of: usize) -> f64 {
        hits as f64 / of as f64
    }

    #[test]
    fn equal_seeds_give_equal_inputs() {
        let t = tpcc(4, Home::Roaming);
        assert_eq!(draw(1, 3, &t, 500), draw(1, 3, &t, 500));
        assert_ne!(draw(1, 3, &t, 500), draw(1, 4, &t, 500));
        assert_ne!(draw(1, 3, &t, 500), draw(2, 3, &t, 500));
    }

    #[test]
    fn every_hundred_transactions_hold_the_mix() {
        for deck in draw(5, 0, &tpcc(2, Home::Fixed), 1_000).chunks(100) {
            let mut mix = [0; 5];
            deck.iter().for_each(|input| mix[input.txn()] += 1);
            assert_eq!(mix, TPCC_DECK);
        }
    }

    #[test]
    fn new_orders_follow_clause_2_4_1() {
        let inputs = draw(6, 1, &tpcc(4, Home::Fixed), 100_000);
        let orders: Vec<_> = inputs
            .iter()
            .filter_map(|i| {
                if let TpccInput::NewOrder(order) = i {
                    Some(order)
                } else {
                    None
                }
            })
            .collect();
        let bad = orders
            .iter()
            .filter(|o| o.lines.iter().any(|l| l.item == UNUSED_ITEM))
            .count();
        assert!((0.008..0.012).contains(&share(bad, orders.len())), "{bad}");
        let lines: Vec<_> = orders.iter().flat_map(|o| &o.lines).collect();
        let remote = lines.iter().filter(|l| l.supply_warehouse != 2).count();
        assert!(
            (0.009..0.011).contains(&share(remote, lines.len())),
            "{remote}"
        );
        assert!((9.9..10.1).contains(&share(lines.len(), orders.len())));
        for order in &orders {
            assert!(
                order.warehouse == 2
                    && (1..=10).contains(&order.district)
                    && (5..=15).contains(&order.lines.len())
            );
            let (last, rest) = order.lines.split_last().unwrap();
            assert!(rest.iter().all(|l| l.item <= ITEMS) && (1..=UNUSED_ITEM).contains(&last.item));
            assert!(
                order.lines.iter().all(
                    |l| (1..=4).contains(&l.supply_warehouse) && (1..=10).contains(&l.quantity)
                )
            );
        }
    }

    #[test]
    fn payments_follow_clause_2_5_1() {
        let inputs = draw(7, 0, &tpcc(4, Home::Fixed), 50_000);
        let payments: Vec<_> = inputs
            .iter()
            .filter_map(|i| {
                if let TpccInput::Payment(payment) = i {
                    Some(payment)
                } else {
                    None
                }
            })
            .collect();
        let remote = payments
            .iter()
            .filter(|p| p.customer_warehouse != p.warehouse)
            .count();
        assert!(
            (0.14..0.16).contains(&share(remote, payments.len())),
            "{remote}"
        );
        let by_name = payments
            .iter()
            .filter(|p| matches!(p.customer, CustomerBy::LastName(_)))
            .count();
        assert!(
            (0.59..0.61).contains(&share(by_name, payments.len())),
            "{by_name}"
        );
        assert!(
            payments
                .iter()
                .all(|p| (100..=500_000).contains(&p.amount_cents))
        );
        let home = payments
            .iter()
            .filter(|p| p.customer_warehouse == p.warehouse);
        assert!(home.into_iter().all(|p| p.customer_district == p.district));
    }

    #[test]
    fn homes_are_fixed_or_roam() {
        let warehouse = |input: &TpccInput| match input {
            TpccInput::NewOrder(i) => i.warehouse,
            TpccInput::Payment(i) => i.warehouse,
            TpccInput::OrderStatus(i) => i.warehouse,
            TpccInput::Delivery(i) => i.warehouse,
            TpccInput::StockLevel(i) => i.warehouse,
        };
        assert!(
            draw(1, 5, &tpcc(3, Home::Fixed), 300)
                .iter()
                .all(|i| warehouse(i) == 3)
        );
        let drawn: std::collections::BTreeSet<_> = draw(1, 5, &tpcc(3, Home::Roaming), 300)
            .iter()
            .map(warehouse)
            .collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
        // The first users of a warehouse have districts of their own (clause 2.8.1.1).
        let districts: Vec<_> = [2, 5, 8]
            .map(|user| TpccGenerator::new(1, 0, user, &tpcc(3, Home::Fixed)).district)
            .into();
        assert_eq!(districts, [1, 2, 3]);
    }

    #[test]
    fn stock_levels_of_roaming_users_read_all_districts() {
        let districts = (0..6).flat_map(|user| draw(1, user, &tpcc(3, Home::Roaming), 1_000));
        let districts: std::collections::BTreeSet<i32> = districts
            .filter_map(|input| {
                if let TpccInput::StockLevel(level) = input {
                    Some(level.district)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(
            districts.into_iter().collect::<Vec<_>>(),
            (1..=DISTRICTS).collect::<Vec<_>>()
        );
    }

    #[test]
    fn one_warehouse_has_no_remote_ones() {
        for input in draw(1, 9, &tpcc(1, Home::Roaming), 5_000) {
            match input {
                TpccInput::NewOrder(order) => {
                    assert!(order.lines.iter().all(|line| line.supply_warehouse == 1))
                }
                TpccInput::Payment(p) => {
                    assert_eq!((p.customer_warehouse, p.customer_district), (1, p.district))
                }
                _ => {}
            }
        }
    }

    #[test]
    fn pacing_follows_clause_5_2_5_7() {
        let mut rng = Rng::new(1);
        assert_eq!(
            pacing(0, &mut rng, &Pacing::default()),
            (Nanos::ZERO, Nanos::ZERO)
        );
        for (txn, (keying_s, think_s)) in [(18, 12.0), (3, 12.0), (2, 10.0), (2, 5.0), (2, 5.0)]
            .into_iter()
            .enumerate()
        {
            let drawn: Vec<_> = (0..20_000)
                .map(|_| {
                    pacing(
                        txn,
                        &mut rng,
                        &Pacing {
                            keying: 1.0,
                            think: 0.5,
                        },
                    )
                })
                .collect();
            assert!(
                drawn
                    .iter()
                    .all(|(keying, _)| *keying == Nanos::from_secs(keying_s))
            );
            let mean = drawn
                .iter()
                .map(|(_, think)| think.as_secs_f64())
                .sum::<f64>()
                / 20_000.0;
            assert!((mean / (think_s / 2.0) - 1.0).abs() < 0.05, "{txn}: {mean}");
            assert!(
                drawn
                    .iter()
                    .all(|(_, think)| think.as_secs_f64() <= think_s * 5.0 + 1e-9)
            );
        }
    }
}

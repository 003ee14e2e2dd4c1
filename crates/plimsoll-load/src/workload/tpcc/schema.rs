//! Names of the nine tables and of their columns (clause 1.3.1). Every engine's tables follow it.

use super::rows::TpccTable;

const ITEM: &[&str] = &["i_id", "i_im_id", "i_name", "i_price", "i_data"];
const WAREHOUSE: &[&str] = &[
    "w_id",
    "w_name",
    "w_street_1",
    "w_street_2",
    "w_city",
    "w_state",
    "w_zip",
    "w_tax",
    "w_ytd",
];
const DISTRICT: &[&str] = &[
    "d_id",
    "d_w_id",
    "d_name",
    "d_street_1",
    "d_street_2",
    "d_city",
    "d_state",
    "d_zip",
    "d_tax",
    "d_ytd",
    "d_next_o_id",
];
const CUSTOMER: &[&str] = &[
    "c_id",
    "c_d_id",
    "c_w_id",
    "c_first",
    "c_middle",
    "c_last",
    "c_street_1",
    "c_street_2",
    "c_city",
    "c_state",
    "c_zip",
    "c_phone",
    "c_since",
    "c_credit",
    "c_credit_lim",
    "c_discount",
    "c_balance",
    "c_ytd_payment",
    "c_payment_cnt",
    "c_delivery_cnt",
    "c_data",
];
const HISTORY: &[&str] = &[
    "h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount", "h_data",
];
const STOCK: &[&str] = &[
    "s_i_id",
    "s_w_id",
    "s_quantity",
    "s_dist_01",
    "s_dist_02",
    "s_dist_03",
    "s_dist_04",
    "s_dist_05",
    "s_dist_06",
    "s_dist_07",
    "s_dist_08",
    "s_dist_09",
    "s_dist_10",
    "s_ytd",
    "s_order_cnt",
    "s_remote_cnt",
    "s_data",
];
const ORDERS: &[&str] = &[
    "o_id",
    "o_d_id",
    "o_w_id",
    "o_c_id",
    "o_entry_d",
    "o_carrier_id",
    "o_ol_cnt",
    "o_all_local",
];
const NEW_ORDER: &[&str] = &["no_o_id", "no_d_id", "no_w_id"];
const ORDER_LINE: &[&str] = &[
    "ol_o_id",
    "ol_d_id",
    "ol_w_id",
    "ol_number",
    "ol_i_id",
    "ol_supply_w_id",
    "ol_delivery_d",
    "ol_quantity",
    "ol_amount",
    "ol_dist_info",
];

impl TpccTable {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The specification's name; ORDER is `orders`, because it is a word of SQL.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The columns' names in the specification's order (clause 1.3.1), which is the order of every row filled.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            TpccTable::Item => ITEM,
            TpccTable::Warehouse => WAREHOUSE,
            TpccTable::District => DISTRICT,
            TpccTable::Customer => CUSTOMER,
            TpccTable::History => HISTORY,
            TpccTable::Stock => STOCK,
            TpccTable::Orders => ORDERS,
            TpccTable::NewOrder => NEW_ORDER,
            TpccTable::OrderLine => ORDER_LINE,
        }
    }
}

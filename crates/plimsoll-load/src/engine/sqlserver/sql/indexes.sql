-- One statement per line; loaders share them out. Two indexes for the lookups by last name (clause 2.5.2.2) and of a
-- customer's last order (clause 2.6.2.2), built from the loaded rows.
CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
CREATE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);

-- The five transactions in the server: one call, one database transaction, one round trip. Statements end with a line $$.
--
-- They are right under READ COMMITTED and REPEATABLE READ: what is changed is changed first and read afterwards, when the
-- row is locked and the transaction's own. Locks are taken in the order in which the client-side transactions take them
-- (New-Order: district, stock by item and warehouse; Payment: customer, district, warehouse; Delivery: by district), so
-- that deadlocks are rare. What only reads has one snapshot. Each gives back what the specification's terminal would show
-- beyond the input (clauses 2.4.3.3, 2.5.3.3, 2.6.3.3, 2.8.3.3). On any error all is rolled back.
DROP PROCEDURE IF EXISTS plimsoll_new_order
$$
-- Clause 2.4.2.2. An unused item raises SQLSTATE PL001 after all work that comes before it. `in_lines` holds 16
-- characters per line, sorted by item and warehouse: number (2), item (6), warehouse (6), quantity (2).
CREATE PROCEDURE plimsoll_new_order(
    in_w int, in_d int, in_c int, in_count int, in_all_local int, in_lines varchar(240) CHARACTER SET latin1
) MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
    DECLARE order_id, done, number, item, supply, quantity, stock_left int;
    DECLARE tax, district_tax, discount_rate decimal(4,4);
    DECLARE price decimal(5,2);
    DECLARE amount decimal(6,2);
    DECLARE total decimal(12,2) DEFAULT 0;
    DECLARE last_name varchar(16) CHARACTER SET latin1;
    DECLARE credit char(2) CHARACTER SET latin1;
    DECLARE name, dist_info varchar(24) CHARACTER SET latin1;
    DECLARE brand char(1) CHARACTER SET latin1;
    DECLARE lines_shown varchar(2000) CHARACTER SET latin1 DEFAULT '';
    DECLARE entered_at datetime(6) DEFAULT UTC_TIMESTAMP(6);
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    SELECT w_tax, c_discount, c_last, c_credit INTO tax, discount_rate, last_name, credit
    FROM warehouse, customer WHERE w_id = in_w AND c_w_id = in_w AND c_d_id = in_d AND c_id = in_c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = in_w AND d_id = in_d;
    SELECT d_next_o_id - 1, d_tax INTO order_id, district_tax FROM district WHERE d_w_id = in_w AND d_id = in_d;
    IF last_name IS NULL OR order_id IS NULL THEN
        SIGNAL SQLSTATE 'PL002' SET MESSAGE_TEXT = 'this customer or district was not loaded';
    END IF;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (order_id, in_d, in_w, in_c, entered_at, NULL, in_count, in_all_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, in_d, in_w);
    SET done = 0;
    WHILE done < in_count DO
        SET number = SUBSTR(in_lines, done * 16 + 1, 2), item = SUBSTR(in_lines, done * 16 + 3, 6),
            supply = SUBSTR(in_lines, done * 16 + 9, 6), quantity = SUBSTR(in_lines, done * 16 + 15, 2),
            price = NULL;
        UPDATE stock SET
            s_quantity = CASE WHEN s_quantity >= quantity + 10 THEN s_quantity - quantity
                              ELSE s_quantity - quantity + 91 END,
            s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (supply <> in_w)
        WHERE s_w_id = supply AND s_i_id = item;
        SELECT i_price, i_name, s_quantity,
            CASE in_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                      WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                      WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
            CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END
        INTO price, name, stock_left, dist_info, brand
        FROM item, stock WHERE i_id = item AND s_w_id = supply AND s_i_id = item;
        IF price IS NULL THEN
            IF EXISTS (SELECT 1 FROM item WHERE i_id = item) THEN
                SIGNAL SQLSTATE 'PL002' SET MESSAGE_TEXT = 'an item has no stock';
            END IF;
            SIGNAL SQLSTATE 'PL001' SET MESSAGE_TEXT = 'item number is not valid';
        END IF;
        SET amount = quantity * price, total = total + amount, done = done + 1,
            lines_shown = CONCAT_WS('|', lines_shown, number, name, stock_left, brand, price, amount);
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
                                ol_quantity, ol_amount, ol_dist_info)
        VALUES (order_id, in_d, in_w, number, item, supply, NULL, quantity, amount, dist_info);
    END WHILE;
    COMMIT;
    SELECT order_id, entered_at, CAST(total * (1 - discount_rate) * (1 + tax + district_tax) AS decimal(12,2)) AS total,
        last_name, credit, discount_rate AS discount, tax, district_tax, lines_shown AS `lines`;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_payment
$$
-- Clause 2.5.2.2. `in_c` or `in_last` names the customer; of several with a last name it is the middle one by first name,
-- position n/2 rounded up, and all of their rows are read: the index alone does not hold C_BALANCE.
CREATE PROCEDURE plimsoll_payment(
    in_w int, in_d int, in_c_w int, in_c_d int, in_c int, in_last varchar(16) CHARACTER SET latin1 COLLATE latin1_bin,
    in_amount decimal(12,2)
) MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
    DECLARE customer_id int;
    DECLARE warehouse_name, district_name varchar(10) CHARACTER SET latin1;
    DECLARE paid_at datetime(6) DEFAULT UTC_TIMESTAMP(6);
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    IF in_c IS NULL THEN
        SELECT c_id INTO customer_id FROM (
            SELECT c_id, c_balance, c_middle, ROW_NUMBER() OVER (ORDER BY c_first, c_id) AS nth, COUNT(*) OVER () AS n
            FROM customer WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_last = in_last
        ) AS bearer WHERE nth = (n + 1) DIV 2 AND c_balance IS NOT NULL AND c_middle IS NOT NULL;
    ELSE
        SET customer_id = in_c;
    END IF;
    UPDATE customer SET
        c_balance = c_balance - in_amount, c_ytd_payment = c_ytd_payment + in_amount, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN LEFT(CONCAT(c_id, ' ', c_d_id, ' ', c_w_id, ' ', in_d, ' ', in_w, ' ', in_amount, '|', c_data), 500)
            ELSE c_data END
    WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_id = customer_id;
    IF ROW_COUNT() <> 1 THEN
        SIGNAL SQLSTATE 'PL002' SET MESSAGE_TEXT = 'this customer was not loaded';
    END IF;
    UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w AND d_id = in_d;
    SELECT d_name INTO district_name FROM district WHERE d_w_id = in_w AND d_id = in_d;
    UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w;
    SELECT w_name INTO warehouse_name FROM warehouse WHERE w_id = in_w;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (customer_id, in_c_d, in_c_w, in_d, in_w, paid_at, in_amount,
            CONCAT(warehouse_name, '    ', district_name));
    SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
        c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN LEFT(c_data, 200) END AS bad_data,
        d_street_1, d_street_2, d_city, d_state, d_zip, w_street_1, w_street_2, w_city, w_state, w_zip, paid_at
    FROM customer, district, warehouse
    WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_id = customer_id AND d_w_id = in_w AND d_id = in_d AND w_id = in_w;
    COMMIT;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_order_status
$$
-- Clause 2.6.2.2.
CREATE PROCEDURE plimsoll_order_status(
    in_w int, in_d int, in_c int, in_last varchar(16) CHARACTER SET latin1 COLLATE latin1_bin
) READS SQL DATA SQL SECURITY INVOKER
BEGIN
    DECLARE customer_id, order_id int;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    START TRANSACTION READ ONLY;
    IF in_c IS NULL THEN
        SELECT c_id INTO customer_id FROM (
            SELECT c_id, c_balance, c_middle, ROW_NUMBER() OVER (ORDER BY c_first, c_id) AS nth, COUNT(*) OVER () AS n
            FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last
        ) AS bearer WHERE nth = (n + 1) DIV 2 AND c_balance IS NOT NULL AND c_middle IS NOT NULL;
    ELSE
        SET customer_id = in_c;
    END IF;
    SELECT o_id INTO order_id FROM orders WHERE o_w_id = in_w AND o_d_id = in_d AND o_c_id = customer_id
    ORDER BY o_id DESC LIMIT 1;
    IF order_id IS NULL THEN
        SIGNAL SQLSTATE 'PL002' SET MESSAGE_TEXT = 'this customer or its orders were not loaded';
    END IF;
    SELECT c_id, c_first, c_middle, c_last, c_balance, o_id, o_carrier_id, o_entry_d FROM customer, orders
    WHERE c_w_id = in_w AND c_d_id = in_d AND c_id = customer_id AND o_w_id = in_w AND o_d_id = in_d AND o_id = order_id;
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = in_w AND ol_d_id = in_d AND ol_o_id = order_id;
    COMMIT;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_delivery
$$
-- Clause 2.7.4.2, for all ten districts. A second delivery of the warehouse waits at the first one's order and, when that
-- is gone, goes on to the next: never one twice, never out of turn.
--
-- Deviation from clause 2.7.2: no queue and no result file. The user waits for the delivery, and its time is measured. A
-- district without an undelivered order is skipped (clause 2.7.4.2); the client leaves `delivered` unread.
CREATE PROCEDURE plimsoll_delivery(in_w int, in_carrier int) MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
    DECLARE district, order_id, customer_id, delivered int DEFAULT 0;
    DECLARE owed decimal(12,2);
    DECLARE delivered_at datetime(6) DEFAULT UTC_TIMESTAMP(6);
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    WHILE district < 10 DO
        SET district = district + 1, order_id = NULL;
        SELECT no_o_id INTO order_id FROM new_order WHERE no_w_id = in_w AND no_d_id = district
        ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF order_id IS NOT NULL THEN
            DELETE FROM new_order WHERE no_w_id = in_w AND no_d_id = district AND no_o_id = order_id;
            UPDATE orders SET o_carrier_id = in_carrier WHERE o_w_id = in_w AND o_d_id = district AND o_id = order_id;
            SELECT o_c_id INTO customer_id FROM orders WHERE o_w_id = in_w AND o_d_id = district AND o_id = order_id;
            UPDATE order_line SET ol_delivery_d = delivered_at
            WHERE ol_w_id = in_w AND ol_d_id = district AND ol_o_id = order_id;
            SELECT SUM(ol_amount) INTO owed FROM order_line
            WHERE ol_w_id = in_w AND ol_d_id = district AND ol_o_id = order_id;
            UPDATE customer SET c_balance = c_balance + owed, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = in_w AND c_d_id = district AND c_id = customer_id;
            SET delivered = delivered + 1;
        END IF;
    END WHILE;
    COMMIT;
    SELECT delivered;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_stock_level
$$
-- Clause 2.8.2.2: distinct items of the district's last 20 orders whose stock is below the threshold.
CREATE PROCEDURE plimsoll_stock_level(in_w int, in_d int, in_threshold int) READS SQL DATA SQL SECURITY INVOKER
BEGIN
    DECLARE next_id int;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    START TRANSACTION READ ONLY;
    SELECT d_next_o_id INTO next_id FROM district WHERE d_w_id = in_w AND d_id = in_d;
    IF next_id IS NULL THEN
        SIGNAL SQLSTATE 'PL002' SET MESSAGE_TEXT = 'this district was not loaded';
    END IF;
    SELECT COUNT(DISTINCT s_i_id) AS low_stock FROM order_line JOIN stock ON s_w_id = in_w AND s_i_id = ol_i_id
    WHERE ol_w_id = in_w AND ol_d_id = in_d AND ol_o_id >= next_id - 20 AND ol_o_id < next_id
      AND s_quantity < in_threshold;
    COMMIT;
END

-- The five transactions in the server: one call, one database transaction. They are correct under READ COMMITTED, and
-- take locks in the order in which the client-side transactions do (New-Order: district, stock by item and warehouse;
-- Payment: customer, district, warehouse; Delivery: by district), so that deadlocks are rare. Names are found through
-- the caller's search_path. Each gives back, in one row, what the specification's terminal would show beyond the input
-- (clauses 2.4.3.3, 2.5.3.3, 2.6.3.3, 2.8.3.3); lines of an order come as arrays.
--
-- The search_path is one schema of plimsoll's; with their arguments' types these are nobody else's functions. What they
-- give back may change from version to version, which CREATE OR REPLACE refuses.
DROP FUNCTION IF EXISTS
    plimsoll_new_order(integer, integer, integer, integer[], integer[], integer[]),
    plimsoll_payment(integer, integer, integer, integer, integer, varchar, numeric),
    plimsoll_order_status(integer, integer, integer, varchar),
    plimsoll_delivery(integer, integer),
    plimsoll_stock_level(integer, integer, integer);

-- Clause 2.4.2.2. An unused item raises SQLSTATE PL001 after all work that comes before it, so that the database rolls
-- it back. An order may name an item twice; an UPDATE changes a row only once, so each pass takes an item's next line.
-- The arrays are in the order of `numbers`, the lines' places in the order.
CREATE FUNCTION plimsoll_new_order(
    in_w integer, in_d integer, in_c integer, in_items integer[], in_supply integer[], in_quantity integer[],
    OUT order_id integer, OUT entered_at timestamptz, OUT total numeric, OUT last_name varchar, OUT credit char(2),
    OUT discount numeric, OUT tax numeric, OUT district_tax numeric,
    OUT numbers bigint[], OUT names varchar[], OUT stocks integer[], OUT brands text[], OUT prices numeric[],
    OUT amounts numeric[]
) LANGUAGE plpgsql AS $$
DECLARE
    lines integer := cardinality(in_items);
    lines_done integer := 0;
    pass integer := 0;
    part record;
BEGIN
    SELECT w_tax, c_discount, c_last, c_credit INTO STRICT tax, discount, last_name, credit
    FROM warehouse, customer
    WHERE w_id = in_w AND c_w_id = in_w AND c_d_id = in_d AND c_id = in_c;

    UPDATE district SET d_next_o_id = d_next_o_id + 1
    WHERE d_w_id = in_w AND d_id = in_d
    RETURNING d_next_o_id - 1, d_tax INTO STRICT order_id, district_tax;

    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (order_id, in_d, in_w, in_c, now(), NULL, lines, (in_w = ALL (in_supply))::integer);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, in_d, in_w);

    entered_at := now();
    total := 0;
    WHILE lines_done < lines LOOP
        pass := pass + 1;
        WITH line AS MATERIALIZED (
            SELECT number, item, supply, quantity
            FROM (
                SELECT number, item, supply, quantity,
                       row_number() OVER (PARTITION BY supply, item ORDER BY number) AS nth
                FROM unnest(in_items, in_supply, in_quantity) WITH ORDINALITY AS l (item, supply, quantity, number)
            ) AS numbered
            WHERE nth = pass
            ORDER BY item, supply
        ), taken AS (
            UPDATE stock SET
                s_quantity = CASE WHEN s_quantity >= quantity + 10 THEN s_quantity - quantity
                                  ELSE s_quantity - quantity + 91 END,
                s_ytd = s_ytd + quantity,
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + (supply <> in_w)::integer
            FROM line JOIN item ON i_id = item
            WHERE s_w_id = supply AND s_i_id = item
            RETURNING number, item, supply, quantity, quantity * i_price AS amount,
                CASE in_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                          WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                          WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS dist_info,
                i_name, i_price, s_quantity,
                CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END AS brand
        ), entered AS (
            INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
                                    ol_quantity, ol_amount, ol_dist_info)
            SELECT order_id, in_d, in_w, number, item, supply, NULL, quantity, amount, dist_info
            FROM taken
        )
        SELECT count(*)::integer AS lines, coalesce(sum(amount), 0) AS amount, array_agg(number) AS numbers,
               array_agg(i_name) AS names, array_agg(s_quantity) AS stocks, array_agg(brand) AS brands,
               array_agg(i_price) AS prices, array_agg(amount) AS amounts
        INTO part FROM taken;
        IF part.lines = 0 THEN
            IF EXISTS (SELECT FROM unnest(in_items) AS u (item) WHERE NOT EXISTS (SELECT FROM item WHERE i_id = item)) THEN
                RAISE EXCEPTION 'item number is not valid' USING ERRCODE = 'PL001';
            END IF;
            RAISE EXCEPTION 'an item of % has no stock', in_items;
        END IF;
        lines_done := lines_done + part.lines;
        total := total + part.amount;
        numbers := numbers || part.numbers;
        names := names || part.names;
        stocks := stocks || part.stocks;
        brands := brands || part.brands;
        prices := prices || part.prices;
        amounts := amounts || part.amounts;
    END LOOP;
    total := total * (1 - discount) * (1 + tax + district_tax);
END
$$;

-- Clause 2.5.2.2. `in_c` or `in_last` names the customer; of several with a last name it is the middle one by first
-- name, position n/2 rounded up, and all of their rows are read (as a plain subquery, columns that are not used further
-- would be left out, and the index alone be enough).
CREATE FUNCTION plimsoll_payment(
    in_w integer, in_d integer, in_c_w integer, in_c_d integer, in_c integer, in_last varchar, in_amount numeric,
    OUT customer_id integer, OUT customer text[], OUT since timestamptz, OUT credit_limit numeric, OUT discount numeric,
    OUT balance numeric, OUT bad_data varchar, OUT district_address text[], OUT warehouse_address text[],
    OUT paid_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    found_w record;
    found_d record;
    found_c record;
BEGIN
    IF in_c IS NULL THEN
        WITH bearer AS MATERIALIZED (
            SELECT c_id, c_balance, c_first, c_middle, row_number() OVER (ORDER BY c_first, c_id) AS nth,
                   count(*) OVER () AS n
            FROM customer WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_last = in_last
        )
        SELECT c_id INTO STRICT customer_id FROM bearer WHERE nth = (n + 1) / 2;
    ELSE
        customer_id := in_c;
    END IF;

    UPDATE customer SET
        c_balance = c_balance - in_amount,
        c_ytd_payment = c_ytd_payment + in_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, in_d, in_w, in_amount) || '|' || c_data, 500)
            ELSE c_data END
    WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_id = customer_id
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
              c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN left(c_data, 200) END AS data
    INTO STRICT found_c;
    customer := ARRAY[found_c.c_first, found_c.c_middle, found_c.c_last, found_c.c_street_1, found_c.c_street_2,
                      found_c.c_city, found_c.c_state, found_c.c_zip, found_c.c_phone, found_c.c_credit];
    since := found_c.c_since;
    credit_limit := found_c.c_credit_lim;
    discount := found_c.c_discount;
    balance := found_c.c_balance;
    bad_data := found_c.data;
    paid_at := now();

    UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w AND d_id = in_d
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip INTO STRICT found_d;
    district_address := ARRAY[found_d.d_street_1, found_d.d_street_2, found_d.d_city,
        found_d.d_state, found_d.d_zip];

    UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip INTO STRICT found_w;
    warehouse_address := ARRAY[found_w.w_street_1, found_w.w_street_2, found_w.w_city,
        found_w.w_state, found_w.w_zip];

    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (customer_id, in_c_d, in_c_w, in_d, in_w, now(), in_amount, found_w.w_name || '    ' || found_d.d_name);
END
$$;

-- Clause 2.6.2.2. STABLE: all of it sees the one snapshot of the call.
CREATE FUNCTION plimsoll_order_status(
    in_w integer, in_d integer, in_c integer, in_last varchar,
    OUT customer_id integer, OUT first_name varchar, OUT middle_name char(2), OUT last_name varchar,
    OUT balance numeric, OUT order_id integer, OUT carrier integer, OUT entered timestamptz,
    OUT items integer[], OUT supply integer[], OUT quantities integer[], OUT amounts numeric[],
    OUT delivered timestamptz[]
) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF in_c IS NULL THEN
        WITH bearer AS MATERIALIZED (
            SELECT c_id, c_balance, c_first, c_middle, row_number() OVER (ORDER BY c_first, c_id) AS nth,
                   count(*) OVER () AS n
            FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last
        )
        SELECT c_id INTO STRICT customer_id FROM bearer WHERE nth = (n + 1) / 2;
    ELSE
        customer_id := in_c;
    END IF;
    SELECT c_balance, c_first, c_middle, c_last INTO STRICT balance, first_name, middle_name, last_name
    FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_id = customer_id;

    SELECT o_id, o_carrier_id, o_entry_d INTO STRICT order_id, carrier, entered
    FROM orders WHERE o_w_id = in_w AND o_d_id = in_d AND o_c_id = customer_id
    ORDER BY o_id DESC LIMIT 1;

    SELECT array_agg(ol_i_id), array_agg(ol_supply_w_id), array_agg(ol_quantity), array_agg(ol_amount),
           array_agg(ol_delivery_d)
    INTO items, supply, quantities, amounts, delivered
    FROM order_line WHERE ol_w_id = in_w AND ol_d_id = in_d AND ol_o_id = order_id;
END
$$;

-- Clause 2.7.4.2, for all ten districts. A second delivery of the warehouse waits at the first one's order and, when
-- that is gone, goes on to the next: never one twice, never out of turn. (SKIP LOCKED would leave a hole when the first
-- one rolls back, and break condition 3.3.2.3.)
--
-- Deviation from clause 2.7.2: no queue and no result file. The user waits for the delivery, and its time is measured.
-- A district without an undelivered order is skipped (clause 2.7.4.2); `delivered` is how many were not, and the
-- client leaves it unread: skipped deliveries are not counted towards the 1 % of clause 2.7.4.2.
CREATE FUNCTION plimsoll_delivery(in_w integer, in_carrier integer, OUT delivered integer)
LANGUAGE plpgsql AS $$
BEGIN
    WITH oldest AS MATERIALIZED (
        SELECT d AS district, o.no_o_id AS id
        FROM generate_series(1, 10) AS d
        CROSS JOIN LATERAL (
            SELECT no_o_id FROM new_order WHERE no_w_id = in_w AND no_d_id = d ORDER BY no_o_id LIMIT 1 FOR UPDATE
        ) AS o
    ), gone AS (
        DELETE FROM new_order USING oldest
        WHERE no_w_id = in_w AND no_d_id = oldest.district AND no_o_id = oldest.id
        RETURNING no_d_id AS district, no_o_id AS id
    ), carried AS (
        UPDATE orders SET o_carrier_id = in_carrier FROM gone
        WHERE o_w_id = in_w AND o_d_id = gone.district AND o_id = gone.id
        RETURNING o_d_id AS district, o_c_id AS customer
    ), line AS (
        UPDATE order_line SET ol_delivery_d = now() FROM gone
        WHERE ol_w_id = in_w AND ol_d_id = gone.district AND ol_o_id = gone.id
        RETURNING ol_d_id AS district, ol_amount
    ), owed AS (
        SELECT district, sum(ol_amount) AS amount FROM line GROUP BY district
    )
    UPDATE customer SET c_balance = c_balance + owed.amount, c_delivery_cnt = c_delivery_cnt + 1
    FROM carried JOIN owed USING (district)
    WHERE c_w_id = in_w AND c_d_id = carried.district AND c_id = carried.customer;
    GET DIAGNOSTICS delivered = ROW_COUNT;
END
$$;

-- Clause 2.8.2.2: distinct items of the district's last 20 orders whose stock is below the threshold.
CREATE FUNCTION plimsoll_stock_level(in_w integer, in_d integer, in_threshold integer, OUT low_stock integer)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    next_id integer;
BEGIN
    SELECT d_next_o_id INTO STRICT next_id FROM district WHERE d_w_id = in_w AND d_id = in_d;
    SELECT count(DISTINCT s_i_id) INTO low_stock
    FROM order_line JOIN stock ON s_w_id = in_w AND s_i_id = ol_i_id
    WHERE ol_w_id = in_w AND ol_d_id = in_d AND ol_o_id >= next_id - 20 AND ol_o_id < next_id
      AND s_quantity < in_threshold;
END
$$;

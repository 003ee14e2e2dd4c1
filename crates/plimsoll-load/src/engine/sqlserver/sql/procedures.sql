-- The five transactions in the server: one call, one database transaction, one round trip. Procedures end with a line $$.
--
-- They are right under READ COMMITTED, with or without versions of rows: what is changed is changed first and read
-- afterwards, when the row is locked and the transaction's own. Locks are taken in the order in which the client-side
-- transactions take them (New-Order: district, stock by item and warehouse; Payment: customer, district, warehouse;
-- Delivery: by district), so that deadlocks are rare. Each gives back what the specification's terminal would show beyond
-- the input (clauses 2.4.3.3, 2.5.3.3, 2.6.3.3, 2.8.3.3). XACT_ABORT: on any error all is rolled back.
DROP PROCEDURE IF EXISTS plimsoll_new_order
$$
-- Clause 2.4.2.2. An unused item raises error 50001 after all work that comes before it. @in_lines holds 16 characters per
-- line, sorted by item and warehouse: number (2), item (6), warehouse (6), quantity (2).
CREATE PROCEDURE plimsoll_new_order
    @in_w int, @in_d int, @in_c int, @in_count int, @in_all_local int, @in_lines varchar(240)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @order_id int, @number int, @item int, @supply int, @quantity int, @stock_left int, @done int = 0;
    DECLARE @tax numeric(4,4), @district_tax numeric(4,4), @discount numeric(4,4);
    DECLARE @price numeric(5,2), @amount numeric(6,2), @total numeric(12,2) = 0;
    DECLARE @last_name varchar(16), @credit char(2), @name varchar(24), @dist_info char(24), @brand char(1);
    DECLARE @lines_shown varchar(2000) = '';
    DECLARE @entered_at datetime2(6) = SYSUTCDATETIME();
    BEGIN TRANSACTION;
    SELECT @tax = w_tax, @discount = c_discount, @last_name = c_last, @credit = c_credit
    FROM warehouse, customer WHERE w_id = @in_w AND c_w_id = @in_w AND c_d_id = @in_d AND c_id = @in_c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @in_w AND d_id = @in_d;
    SELECT @order_id = d_next_o_id - 1, @district_tax = d_tax FROM district WHERE d_w_id = @in_w AND d_id = @in_d;
    IF @last_name IS NULL OR @order_id IS NULL THROW 50002, 'this customer or district was not loaded', 1;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (@order_id, @in_d, @in_w, @in_c, @entered_at, NULL, @in_count, @in_all_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (@order_id, @in_d, @in_w);
    WHILE @done < @in_count
    BEGIN
        SET @number = CAST(SUBSTRING(@in_lines, @done * 16 + 1, 2) AS int);
        SET @item = CAST(SUBSTRING(@in_lines, @done * 16 + 3, 6) AS int);
        SET @supply = CAST(SUBSTRING(@in_lines, @done * 16 + 9, 6) AS int);
        SET @quantity = CAST(SUBSTRING(@in_lines, @done * 16 + 15, 2) AS int);
        SET @price = NULL;
        UPDATE stock SET
            s_quantity = CASE WHEN s_quantity >= @quantity + 10 THEN s_quantity - @quantity
                              ELSE s_quantity - @quantity + 91 END,
            s_ytd = s_ytd + @quantity, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN @supply <> @in_w THEN 1 ELSE 0 END
        WHERE s_w_id = @supply AND s_i_id = @item;
        SELECT @price = i_price, @name = i_name, @stock_left = s_quantity,
            @dist_info = CASE @in_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
                WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
            @brand = CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END
        FROM item, stock WHERE i_id = @item AND s_w_id = @supply AND s_i_id = @item;
        IF @price IS NULL
        BEGIN
            IF EXISTS (SELECT 1 FROM item WHERE i_id = @item) THROW 50002, 'an item has no stock', 1;
            THROW 50001, 'item number is not valid', 1;
        END;
        SET @amount = @quantity * @price;
        SET @total = @total + @amount;
        SET @done = @done + 1;
        SET @lines_shown = CONCAT(@lines_shown, '|', @number, '|', @name, '|', @stock_left, '|', @brand, '|', @price,
            '|', @amount);
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
                                ol_quantity, ol_amount, ol_dist_info)
        VALUES (@order_id, @in_d, @in_w, @number, @item, @supply, NULL, @quantity, @amount, @dist_info);
    END;
    COMMIT TRANSACTION;
    SELECT @order_id AS order_id, @entered_at AS entered_at,
        CAST(@total * (1 - @discount) * (1 + @tax + @district_tax) AS numeric(12,2)) AS total,
        @last_name AS last_name, @credit AS credit, @discount AS discount, @tax AS tax, @district_tax AS district_tax,
        @lines_shown AS lines;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_payment
$$
-- Clause 2.5.2.2. @in_c or @in_last names the customer; of several with a last name it is the middle one by first name,
-- position n/2 rounded up, and all of their rows are read: the index alone does not hold C_BALANCE.
CREATE PROCEDURE plimsoll_payment
    @in_w int, @in_d int, @in_c_w int, @in_c_d int, @in_amount numeric(12,2), @in_c int = NULL,
    @in_last varchar(16) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @customer_id int = @in_c;
    DECLARE @warehouse_name varchar(10), @district_name varchar(10);
    DECLARE @paid_at datetime2(6) = SYSUTCDATETIME();
    BEGIN TRANSACTION;
    IF @customer_id IS NULL
        SELECT @customer_id = c_id FROM (
            SELECT c_id, c_balance, c_middle, ROW_NUMBER() OVER (ORDER BY c_first, c_id) AS nth, COUNT(*) OVER () AS n
            FROM customer WHERE c_w_id = @in_c_w AND c_d_id = @in_c_d AND c_last = @in_last
        ) AS bearer WHERE nth = (n + 1) / 2 AND c_balance IS NOT NULL AND c_middle IS NOT NULL;
    UPDATE customer SET
        c_balance = c_balance - @in_amount, c_ytd_payment = c_ytd_payment + @in_amount, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN LEFT(CONCAT(c_id, ' ', c_d_id, ' ', c_w_id, ' ', @in_d, ' ', @in_w, ' ', @in_amount, '|', c_data), 500)
            ELSE c_data END
    WHERE c_w_id = @in_c_w AND c_d_id = @in_c_d AND c_id = @customer_id;
    IF @@ROWCOUNT <> 1 THROW 50002, 'this customer was not loaded', 1;
    UPDATE district SET d_ytd = d_ytd + @in_amount WHERE d_w_id = @in_w AND d_id = @in_d;
    SELECT @district_name = d_name FROM district WHERE d_w_id = @in_w AND d_id = @in_d;
    UPDATE warehouse SET w_ytd = w_ytd + @in_amount WHERE w_id = @in_w;
    SELECT @warehouse_name = w_name FROM warehouse WHERE w_id = @in_w;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (@customer_id, @in_c_d, @in_c_w, @in_d, @in_w, @paid_at, @in_amount,
            CONCAT(@warehouse_name, '    ', @district_name));
    SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
        c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN LEFT(c_data, 200) END AS bad_data,
        d_street_1, d_street_2, d_city, d_state, d_zip, w_street_1, w_street_2, w_city, w_state, w_zip,
        @paid_at AS paid_at
    FROM customer, district, warehouse
    WHERE c_w_id = @in_c_w AND c_d_id = @in_c_d AND c_id = @customer_id AND d_w_id = @in_w AND d_id = @in_d
      AND w_id = @in_w;
    COMMIT TRANSACTION;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_order_status
$$
-- Clause 2.6.2.2. An order and its lines belong together: all of it sees one snapshot where the database keeps versions of
-- rows (@in_snapshot), else what it has read stays as it is until its end. The level is the caller's again when it returns.
CREATE PROCEDURE plimsoll_order_status
    @in_w int, @in_d int, @in_snapshot int, @in_c int = NULL, @in_last varchar(16) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @customer_id int = @in_c, @order_id int;
    IF @in_snapshot = 1
        SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
    ELSE
        SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    BEGIN TRANSACTION;
    IF @customer_id IS NULL
        SELECT @customer_id = c_id FROM (
            SELECT c_id, c_balance, c_middle, ROW_NUMBER() OVER (ORDER BY c_first, c_id) AS nth, COUNT(*) OVER () AS n
            FROM customer WHERE c_w_id = @in_w AND c_d_id = @in_d AND c_last = @in_last
        ) AS bearer WHERE nth = (n + 1) / 2 AND c_balance IS NOT NULL AND c_middle IS NOT NULL;
    SELECT TOP (1) @order_id = o_id FROM orders WHERE o_w_id = @in_w AND o_d_id = @in_d AND o_c_id = @customer_id
    ORDER BY o_id DESC;
    IF @order_id IS NULL THROW 50002, 'this customer or its orders were not loaded', 1;
    SELECT c_id, c_first, c_middle, c_last, c_balance, o_id, o_carrier_id, o_entry_d FROM customer, orders
    WHERE c_w_id = @in_w AND c_d_id = @in_d AND c_id = @customer_id
      AND o_w_id = @in_w AND o_d_id = @in_d AND o_id = @order_id;
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = @in_w AND ol_d_id = @in_d AND ol_o_id = @order_id;
    COMMIT TRANSACTION;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_delivery
$$
-- Clause 2.7.4.2, for all ten districts. A second delivery of the warehouse waits at the first one's order and, when that
-- is gone, goes on to the next: never one twice, never out of turn.
--
-- Deviation from clause 2.7.2: no queue and no result file. The user waits for the delivery, and its time is measured. A
-- district without an undelivered order is skipped (clause 2.7.4.2); the client leaves `delivered` unread.
CREATE PROCEDURE plimsoll_delivery @in_w int, @in_carrier int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @district int = 1, @order_id int, @customer_id int, @delivered int = 0, @owed numeric(12,2);
    DECLARE @delivered_at datetime2(6) = SYSUTCDATETIME();
    BEGIN TRANSACTION;
    WHILE @district <= 10
    BEGIN
        SET @order_id = NULL;
        SELECT TOP (1) @order_id = no_o_id FROM new_order WITH (UPDLOCK)
        WHERE no_w_id = @in_w AND no_d_id = @district ORDER BY no_o_id;
        DELETE FROM new_order WHERE no_w_id = @in_w AND no_d_id = @district AND no_o_id = @order_id;
        IF @@ROWCOUNT = 1
        BEGIN
            UPDATE orders SET o_carrier_id = @in_carrier
            WHERE o_w_id = @in_w AND o_d_id = @district AND o_id = @order_id;
            SELECT @customer_id = o_c_id FROM orders
            WHERE o_w_id = @in_w AND o_d_id = @district AND o_id = @order_id;
            UPDATE order_line SET ol_delivery_d = @delivered_at
            WHERE ol_w_id = @in_w AND ol_d_id = @district AND ol_o_id = @order_id;
            SELECT @owed = SUM(ol_amount) FROM order_line
            WHERE ol_w_id = @in_w AND ol_d_id = @district AND ol_o_id = @order_id;
            UPDATE customer SET c_balance = c_balance + @owed, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = @in_w AND c_d_id = @district AND c_id = @customer_id;
            SET @delivered = @delivered + 1;
            SET @district = @district + 1;
        END;
        -- Taken by another delivery in between, which only a server that does not know UPDLOCK lets happen: once more.
        ELSE IF @order_id IS NULL
            SET @district = @district + 1;
    END;
    COMMIT TRANSACTION;
    SELECT @delivered AS delivered;
END
$$
DROP PROCEDURE IF EXISTS plimsoll_stock_level
$$
-- Clause 2.8.2.2: distinct items of the district's last 20 orders whose stock is below the threshold. READ COMMITTED is
-- what the specification asks of it (clause 2.8.2.3).
CREATE PROCEDURE plimsoll_stock_level @in_w int, @in_d int, @in_threshold int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @next_id int;
    BEGIN TRANSACTION;
    SELECT @next_id = d_next_o_id FROM district WHERE d_w_id = @in_w AND d_id = @in_d;
    IF @next_id IS NULL THROW 50002, 'this district was not loaded', 1;
    SELECT COUNT(DISTINCT s_i_id) AS low_stock FROM order_line JOIN stock ON s_w_id = @in_w AND s_i_id = ol_i_id
    WHERE ol_w_id = @in_w AND ol_d_id = @in_d AND ol_o_id >= @next_id - 20 AND ol_o_id < @next_id
      AND s_quantity < @in_threshold;
    COMMIT TRANSACTION;
END

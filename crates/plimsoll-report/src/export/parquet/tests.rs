use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use plimsoll_analysis::{Summary, summarise};
use plimsoll_record::{Record, fixture};

use super::super::{RunOfMany, run};
use super::*;
use crate::table::CsvSink;

fn runs() -> Vec<(Record, Summary)> {
    let records = [
        fixture::record(),
        fixture::backup(),
        fixture::block(),
        fixture::search(),
    ];
    records.map(summarised).into()
}

fn summarised(record: Record) -> (Record, Summary) {
    let summary = summarise(&record);
    (record, summary)
}

/// A table of several runs.
fn send(runs: &[(Record, Summary)], kind: ExportTable, mut sink_of: impl FnMut(&RunOfMany<'_>)) {
    for (record, summary) in runs {
        sink_of(&RunOfMany {
            record,
            summary: kind.needs_summary().then_some(summary),
            file: "a, \"b\".plimsoll",
        });
    }
}

fn csv_rows(runs: &[(Record, Summary)], kind: ExportTable) -> Vec<Vec<CellValue>> {
    #[derive(Default)]
    struct Rows(Vec<Vec<CellValue>>);
    impl TableSink for Rows {
        fn begin(&mut self, _: Vec<TypedColumn>) {}
        fn row(&mut self, cells: &[CellValue]) {
            self.0.push(cells.to_vec());
        }
    }
    let mut rows = Rows::default();
    send(runs, kind, |run| run.send(kind, &mut rows));
    rows.0
}

fn parquet_file(runs: &[(Record, Summary)], kind: ExportTable) -> SerializedFileReader<Bytes> {
    let mut file = ParquetFile::create(Vec::new(), kind).unwrap();
    send(runs, kind, |run| {
        let mut batch = RowBatch::default();
        run.send(kind, &mut batch);
        // Rows pass on in parts.
        let part = batch.take();
        assert_eq!(batch.cells(), 0);
        file.append(part).unwrap();
        file.append(batch).unwrap();
    });
    SerializedFileReader::new(Bytes::from(file.finish().unwrap())).unwrap()
}

/// A value as CSV has it. Times are read, and written in another form.
fn plain(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Bool(flag) => flag.to_string(),
        Field::Long(count) => count.to_string(),
        Field::Float(value) => value.to_string(),
        Field::Double(value) => value.to_string(),
        Field::Str(text) => text.clone(),
        Field::TimestampMicros(time) => Timestamp::from_microsecond(*time).unwrap().to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_parquet_file_has_each_value_of_the_csv_table() {
    let runs = runs();
    let mut tables_with_rows = 0;
    for kind in ExportTable::ALL.iter().copied() {
        let expected = csv_rows(&runs, kind);
        tables_with_rows += usize::from(!expected.is_empty());
        let file = parquet_file(&runs, kind);
        let rows: Vec<_> = file
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), expected.len(), "{}", kind.name());
        for (row, cells) in rows.iter().zip(&expected) {
            let fields: Vec<_> = row.get_column_iter().collect();
            assert_eq!(fields.len(), cells.len());
            for ((name, field), cell) in fields.into_iter().zip(cells) {
                assert_eq!(plain(field), cell.to_plain(), "{} {name}", kind.name());
                let is_missing = matches!(cell, CellValue::Missing(_));
                assert_eq!(*field == Field::Null, is_missing, "{} {name}", kind.name());
            }
        }
    }
    assert!(tables_with_rows >= 10, "{tables_with_rows}");
}

#[test]
fn a_table_without_runs_has_its_columns() {
    let run = [summarised(fixture::record())];
    for kind in ExportTable::ALL.iter().copied() {
        let file = ParquetFile::create(Vec::new(), kind).unwrap();
        let file = SerializedFileReader::new(Bytes::from(file.finish().unwrap())).unwrap();
        let fields = file.metadata().file_metadata().schema().get_fields();
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let columns = kind.columns();
        let expected: Vec<&str> = columns.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, expected);
        let version = file
            .metadata()
            .file_metadata()
            .key_value_metadata()
            .unwrap();
        assert_eq!(version[1].value, Some(PARQUET_VERSION.to_string()));
        // One run sends the columns that a table of many has.
        let mut csv = CsvSink::with_header();
        send(&run, kind, |run| run.send(kind, &mut csv));
        assert_eq!(csv.text.lines().next(), Some(expected.join(",").as_str()));
    }
}

#[test]
fn rows_fill_groups_of_bounded_size() {
    let mut batch = RowBatch::default();
    let rows = 1_000;
    let columns = ExportTable::Wait.columns();
    let mut file = ParquetFile::create(Vec::new(), ExportTable::Wait).unwrap();
    let per_group = GROUP_VALUES.div_ceil(rows * columns.len());
    batch.begin(columns);
    let count = batch.columns.len();
    for _ in 0..per_group + 1 {
        for _ in 0..rows {
            batch.row(&vec![CellValue::Missing(None); count]);
        }
        file.append(batch.take()).unwrap();
    }
    let file = SerializedFileReader::new(Bytes::from(file.finish().unwrap())).unwrap();
    let groups = file.metadata().row_groups().iter();
    let groups: Vec<i64> = groups.map(|group| group.num_rows()).collect();
    assert_eq!(groups, [(per_group * rows) as i64, rows as i64]);
}

/// Columns by type and unit, as the documentation lists them.
fn documented(columns: &[TypedColumn]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for column in columns {
        let head = format!("| {} | {} |", column.value_type.name(), unit(column));
        let name = format!("`{}`", column.name);
        match groups.iter_mut().find(|(own, _)| *own == head) {
            Some((_, names)) => names.push(name),
            None => groups.push((head, vec![name])),
        }
    }
    let lines = groups.iter();
    let lines = lines.map(|(head, names)| format!("{head} {} |\n", names.join(", ")));
    format!(
        "| type | unit | columns |\n|---|---|---|\n{}",
        lines.collect::<String>()
    )
}

/// A name ends in its unit.
fn unit(column: &TypedColumn) -> &'static str {
    let is_measured = matches!(column.value_type, ValueType::Number | ValueType::Count);
    let name = column.name.as_str();
    let units = [
        ("mb_per_second", "MB/s"),
        ("per_second", "1/s"),
        ("per_second_low", "1/s"),
        ("per_second_high", "1/s"),
        ("per_second_interval_low", "1/s"),
        ("per_second_interval_high", "1/s"),
        ("iops", "1/s"),
        ("per_minute", "1/min"),
        ("nopm", "1/min"),
        ("tpm", "1/min"),
        ("tpm_per_user", "1/min"),
        ("nopm_interval_low", "1/min"),
        ("nopm_interval_high", "1/min"),
        ("tpm_interval_low", "1/min"),
        ("tpm_interval_high", "1/min"),
        ("us_per_txn", "µs"),
        ("percent", "%"),
        ("seconds", "s"),
        ("bytes", "bytes"),
        ("mb", "MB"),
        ("ms", "ms"),
        ("us", "µs"),
        ("s", "s"),
    ];
    let has = |unit: &str| name == unit || name.ends_with(&format!("_{unit}"));
    let found = units.iter().find(|(end, _)| has(end));
    found.filter(|_| is_measured).map_or("", |(_, unit)| unit)
}

/// A column that changes its name, type or unit needs another [`PARQUET_VERSION`].
#[test]
fn the_documentation_has_the_columns_of_every_table() {
    let page = include_str!("../../../../../docs/export.md");
    let run = run::audited().typed_columns();
    let mut sections = vec![format!("### Run\n\n{}", documented(&run))];
    for kind in ExportTable::ALL.iter().copied() {
        let own = kind.columns();
        let own: Vec<_> = own.into_iter().filter(|own| !run.contains(own)).collect();
        sections.push(format!("### `{}`\n\n{}", kind.name(), documented(&own)));
    }
    let missing: Vec<&String> = sections.iter().filter(|own| !page.contains(*own)).collect();
    let missing: String = missing.into_iter().map(|own| format!("{own}\n")).collect();
    assert!(missing.is_empty(), "docs/export.md lacks:\n{missing}");
    let version = format!("`plimsoll.schema_version` is {PARQUET_VERSION}");
    assert!(page.contains(&version), "docs/export.md lacks: {version}");
}

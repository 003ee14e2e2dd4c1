//! A table of several runs as a Parquet file: each column has the type that it is declared with, and may be NULL.

use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::ExportTable;
use crate::table::{CellValue, TableSink, TypedColumn, ValueType};

/// Changes when a column of an exported table changes its name, type, unit or meaning; new columns may come without that.
pub const PARQUET_VERSION: u32 = 1;

/// Values of a row group: some 40 MB, and of tables with few columns enough rows for readers to share them out.
const GROUP_VALUES: usize = 4 << 20;

/// Rows by column, as they are stored.
#[derive(Default)]
pub struct RowBatch {
    columns: Vec<StoredColumn>,
    rows: usize,
}

struct StoredColumn {
    /// 1 of a value, 0 of none.
    levels: Vec<i16>,
    values: StoredValues,
}

enum StoredValues {
    Numbers(Vec<f64>),
    Singles(Vec<f32>),
    Counts(Vec<i64>),
    Flags(Vec<bool>),
    Texts(Vec<ByteArray>),
    /// Microseconds since 1970.
    Times(Vec<i64>),
}

impl RowBatch {
    /// Values and gaps.
    pub fn cells(&self) -> usize {
        self.rows * self.columns.len()
    }

    /// The rows so far; what comes then begins anew with the same columns.
    pub fn take(&mut self) -> Self {
        let columns = self.columns.iter().map(StoredColumn::without_rows);
        let empty = Self {
            columns: columns.collect(),
            rows: 0,
        };
        std::mem::replace(self, empty)
    }

    fn append(&mut self, mut other: Self) {
        if self.columns.is_empty() {
            *self = other;
            return;
        }
        self.rows += other.rows;
        for (column, more) in self.columns.iter_mut().zip(&mut other.columns) {
            column.append(more);
        }
    }
}

impl TableSink for RowBatch {
    fn begin(&mut self, columns: Vec<TypedColumn>) {
        let columns = columns.iter();
        self.columns = columns
            .map(|column| StoredColumn::of(column.value_type))
            .collect();
    }

    fn row(&mut self, cells: &[CellValue]) {
        self.rows += 1;
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let is_stored = column.values.push(cell);
            column.levels.push(i16::from(is_stored));
        }
    }
}

impl StoredColumn {
    fn of(value_type: ValueType) -> Self {
        Self {
            levels: Vec::new(),
            values: match value_type {
                ValueType::Number => StoredValues::Numbers(Vec::new()),
                ValueType::Single => StoredValues::Singles(Vec::new()),
                ValueType::Count => StoredValues::Counts(Vec::new()),
                ValueType::Flag => StoredValues::Flags(Vec::new()),
                ValueType::Text => StoredValues::Texts(Vec::new()),
                ValueType::Time => StoredValues::Times(Vec::new()),
            },
        }
    }

    fn without_rows(&self) -> Self {
        Self::of(match self.values {
            StoredValues::Numbers(_) => ValueType::Number,
            StoredValues::Singles(_) => ValueType::Single,
            StoredValues::Counts(_) => ValueType::Count,
            StoredValues::Flags(_) => ValueType::Flag,
            StoredValues::Texts(_) => ValueType::Text,
            StoredValues::Times(_) => ValueType::Time,
        })
    }

    /// Two columns of one table have the same type.
    fn append(&mut self, more: &mut Self) {
        self.levels.append(&mut more.levels);
        match (&mut self.values, &mut more.values) {
            (StoredValues::Numbers(own), StoredValues::Numbers(more)) => own.append(more),
            (StoredValues::Singles(own), StoredValues::Singles(more)) => own.append(more),
            (StoredValues::Counts(own), StoredValues::Counts(more))
            | (StoredValues::Times(own), StoredValues::Times(more)) => own.append(more),
            (StoredValues::Flags(own), StoredValues::Flags(more)) => own.append(more),
            (StoredValues::Texts(own), StoredValues::Texts(more)) => own.append(more),
            _ => {}
        }
    }
}

impl StoredValues {
    /// Whether the cell has a value of this type.
    fn push(&mut self, cell: &CellValue) -> bool {
        match (self, cell) {
            (_, CellValue::Missing(_)) => return false,
            (Self::Numbers(all), CellValue::Number(value)) => all.push(*value),
            (Self::Singles(all), CellValue::Single(value)) => all.push(*value),
            (Self::Counts(all), CellValue::Count(count)) => {
                all.push(i64::try_from(*count).unwrap_or(i64::MAX));
            }
            (Self::Flags(all), CellValue::Flag(flag)) => all.push(*flag),
            (Self::Times(all), CellValue::Time(text)) => match text.parse::<Timestamp>() {
                Ok(time) => all.push(time.as_microsecond()),
                Err(_) => return false,
            },
            (Self::Texts(all), cell) => push_text(all, cell),
            _ => return false,
        }
        true
    }
}

/// A text that repeats the one before shares its memory.
fn push_text(all: &mut Vec<ByteArray>, cell: &CellValue) {
    let text = match cell {
        CellValue::Text(text) => text.as_str(),
        CellValue::Word { name, .. } => name,
        cell => &cell.to_plain(),
    };
    let last = all.last().filter(|last| last.data() == text.as_bytes());
    let text = last.cloned().unwrap_or_else(|| ByteArray::from(text));
    all.push(text);
}

/// A Parquet file that is being written. Holds the rows of one row group.
pub struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    pending: RowBatch,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Of a table of several runs.
    pub fn create(file: W, table: ExportTable) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("plimsoll {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![
                KeyValue::new("plimsoll.table".to_owned(), table.name().to_owned()),
                KeyValue::new(
                    "plimsoll.schema_version".to_owned(),
                    PARQUET_VERSION.to_string(),
                ),
            ]))
            .build();
        let schema = schema(table)?;
        Ok(Self {
            writer: SerializedFileWriter::new(file, schema, Arc::new(properties))?,
            pending: RowBatch::default(),
        })
    }

    pub fn append(&mut self, batch: RowBatch) -> Result<(), ParquetError> {
        self.pending.append(batch);
        if self.pending.cells() < GROUP_VALUES {
            return Ok(());
        }
        self.write_group()
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let batch = self.pending.take();
        let mut group = self.writer.next_row_group()?;
        for column in &batch.columns {
            write_column(&mut group, column)?;
        }
        group.close()?;
        Ok(())
    }

    /// The file, complete.
    pub fn finish(mut self) -> Result<W, ParquetError> {
        if self.pending.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner()
    }
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &StoredColumn,
) -> Result<(), ParquetError> {
    let levels = &column.levels;
    match &column.values {
        StoredValues::Numbers(values) => write_values::<DoubleType, W>(group, values, levels),
        StoredValues::Singles(values) => write_values::<FloatType, W>(group, values, levels),
        StoredValues::Counts(values) | StoredValues::Times(values) => {
            write_values::<Int64Type, W>(group, values, levels)
        }
        StoredValues::Flags(values) => write_values::<BoolType, W>(group, values, levels),
        StoredValues::Texts(values) => write_values::<ByteArrayType, W>(group, values, levels),
    }
}

fn write_values<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: &[i16],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column too many".to_owned()));
    };
    column
        .typed::<T>()
        .write_batch(values, Some(levels), None)?;
    column.close()
}

fn schema(table: ExportTable) -> Result<TypePtr, ParquetError> {
    let columns = table.columns();
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder(table.name()).with_fields(fields);
    schema.build().map(Arc::new)
}

fn field(column: &TypedColumn) -> Result<TypePtr, ParquetError> {
    let physical = match column.value_type {
        ValueType::Number => PhysicalType::DOUBLE,
        ValueType::Single => PhysicalType::FLOAT,
        ValueType::Count | ValueType::Time => PhysicalType::INT64,
        ValueType::Flag => PhysicalType::BOOLEAN,
        ValueType::Text => PhysicalType::BYTE_ARRAY,
    };
    let logical = match column.value_type {
        ValueType::Text => Some(LogicalType::String),
        ValueType::Time => Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
        ValueType::Number | ValueType::Single | ValueType::Count | ValueType::Flag => None,
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

#[cfg(test)]
mod tests;

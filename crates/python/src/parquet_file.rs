//! The one place that writes Parquet.

use std::error::Error as _;
use std::fmt::Write as _;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use sha2::{Digest, Sha256};
use tightlink_run::digest::{hex, length};
use tightlink_sim::tables::{Column, Table};

/// Key of a file's metadata for a checksum, which is filled in when the file is complete
/// (`tightlink.checksums`).
const CHECKSUM: &str = "sha256";
/// Key of the metadata of a run's file: where each table is, and its checksum.
const TABLES: &str = "tables";

/// Why a file was not written.
#[derive(Debug)]
pub enum WriteError {
    Format(ParquetError),
    Io(std::io::Error),
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Format(error) => write!(formatter, "{error}"),
            Self::Io(error) => write!(formatter, "{error}"),
        }
    }
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        Self::Format(error)
    }
}

impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl WriteError {
    /// The system's error, where it is one, such as that of a full disk.
    pub fn system(&self) -> Option<&std::io::Error> {
        match self {
            Self::Format(error) => error.source()?.downcast_ref(),
            Self::Io(error) => Some(error),
        }
    }
}

/// Writes a table. NaN is written as null: both mean "no value".
pub fn write(path: &Path, columns: &[(impl AsRef<str>, Column)]) -> Result<(), WriteError> {
    let mut table = Growing::new(File::create(path)?, columns)?;
    table.add(columns)?;
    table.finish()
}

/// A file of a table that is written in parts, so that the whole of it need not be in memory.
pub struct Growing(SerializedFileWriter<File>);

impl Growing {
    /// An empty one, with columns like these.
    pub fn new(file: File, columns: &[(impl AsRef<str>, Column)]) -> Result<Self, WriteError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        Ok(Self(SerializedFileWriter::new(file, schema(columns)?, Arc::new(properties))?))
    }

    /// Adds rows.
    pub fn add(&mut self, columns: &[(impl AsRef<str>, Column)]) -> Result<(), WriteError> {
        let mut group = self.0.next_row_group()?;
        for (_, column) in columns {
            let Some(mut sink) = group.next_column()? else { break };
            if let Column::Float(values) = column {
                let levels: Vec<i16> = values.iter().map(|value| i16::from(!value.is_nan())).collect();
                write_values(&mut sink, column, Some(&levels), None)?;
            } else {
                write_values(&mut sink, column, None, None)?;
            }
            sink.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes what belongs at the end.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.0.append_key_value_metadata(no_checksum());
        self.0.finish()?;
        Ok(())
    }
}

/// The values of a column that are there, NaN left out.
fn write_values(
    sink: &mut SerializedColumnWriter<'_>,
    column: &Column,
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) -> Result<(), ParquetError> {
    match column {
        Column::Float(values) => {
            let present: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
            sink.typed::<DoubleType>().write_batch(&present, definition, repetition)?;
        }
        Column::Integer(values) => {
            sink.typed::<Int64Type>().write_batch(values, definition, repetition)?;
        }
        Column::Text(values) => {
            let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(value.as_str())).collect();
            sink.typed::<ByteArrayType>().write_batch(&values, definition, repetition)?;
        }
        Column::Category(codes, names) => {
            let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(name.as_str())).collect();
            let values: Vec<ByteArray> = codes.iter().map(|&code| names[code as usize].clone()).collect();
            sink.typed::<ByteArrayType>().write_batch(&values, definition, repetition)?;
        }
    }
    Ok(())
}

/// A run as a Parquet file of one row: texts, then each table as a list of structs.
pub fn row(texts: &[(String, String)], tables: &[(&str, &Table)]) -> Result<Vec<u8>, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false);
    for (name, table) in tables {
        for (column, _) in table.columns.iter().filter(|(_, column)| matches!(column, Column::Category(..))) {
            let parts = [name, "list", "element", column].map(str::to_owned);
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(parts.to_vec()), true);
        }
    }
    let mut writer = SerializedFileWriter::new(Vec::new(), row_schema(texts, tables)?, Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for (_, text) in texts {
        let Some(mut sink) = group.next_column()? else { break };
        sink.typed::<ByteArrayType>().write_batch(&[ByteArray::from(text.as_str())], None, None)?;
        sink.close()?;
    }
    for (_, column) in tables.iter().flat_map(|(_, table)| &table.columns) {
        let Some(mut sink) = group.next_column()? else { break };
        let rows = length(column);
        // An empty list is a separate level.
        let mut repetition = vec![1; rows.max(1)];
        repetition[0] = 0;
        let definition: Vec<i16> = match column {
            _ if rows == 0 => vec![0],
            Column::Float(values) => values.iter().map(|value| if value.is_nan() { 1 } else { 2 }).collect(),
            _ => vec![1; rows],
        };
        write_values(&mut sink, column, Some(&definition), Some(&repetition))?;
        sink.close()?;
    }
    let group = group.close()?;
    writer.flush()?;
    let mut parts = String::new();
    let mut first = texts.len();
    for (name, table) in tables {
        let range = bytes_of(&group, first..first + table.columns.len());
        first += table.columns.len();
        let checksum = hex(Sha256::new_with_prefix(&writer.inner()[range.clone()]));
        let _ = write!(parts, ";{name} {} {} {checksum}", range.start, range.end);
    }
    writer.append_key_value_metadata(KeyValue::new(TABLES.to_owned(), parts));
    writer.append_key_value_metadata(no_checksum());
    writer.into_inner()
}

/// Where columns that follow each other are in the file.
fn bytes_of(group: &RowGroupMetaData, columns: Range<usize>) -> Range<usize> {
    let ranges = columns.map(|column| group.column(column).byte_range());
    let (start, end) = ranges.fold((u64::MAX, 0), |(start, end), (at, long)| (start.min(at), end.max(at + long)));
    start as usize..end as usize
}

/// As long as a checksum, which takes its place.
fn no_checksum() -> KeyValue {
    KeyValue::new(CHECKSUM.to_owned(), "0".repeat(64))
}

fn row_schema(texts: &[(String, String)], tables: &[(&str, &Table)]) -> Result<TypePtr, ParquetError> {
    let text = |(name, _): &(String, String)| {
        let field = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(ConvertedType::UTF8);
        Ok(Arc::new(field.build()?))
    };
    let list = |(name, table): &(&str, &Table)| {
        let element = Type::group_type_builder("element").with_repetition(Repetition::REQUIRED);
        let element = Arc::new(element.with_fields(fields(&table.columns)?).build()?);
        let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
        let list = Arc::new(list.with_fields(vec![element]).build()?);
        let outer = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
        Ok(Arc::new(outer.with_converted_type(ConvertedType::LIST).with_fields(vec![list]).build()?))
    };
    let fields = texts.iter().map(text).chain(tables.iter().map(list)).collect::<Result<Vec<_>, ParquetError>>()?;
    Ok(Arc::new(Type::group_type_builder("run").with_fields(fields).build()?))
}

fn schema(columns: &[(impl AsRef<str>, Column)]) -> Result<TypePtr, ParquetError> {
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields(columns)?).build()?))
}

fn fields(columns: &[(impl AsRef<str>, Column)]) -> Result<Vec<TypePtr>, ParquetError> {
    let fields = columns.iter().map(|(name, column)| {
        let (physical, converted, repetition) = match column {
            Column::Float(_) => (Physical::DOUBLE, ConvertedType::NONE, Repetition::OPTIONAL),
            Column::Integer(_) => (Physical::INT64, ConvertedType::NONE, Repetition::REQUIRED),
            Column::Text(_) | Column::Category(..) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::REQUIRED),
        };
        let field = Type::primitive_type_builder(name.as_ref(), physical)
            .with_repetition(repetition)
            .with_converted_type(converted);
        Ok(Arc::new(field.build()?))
    });
    fields.collect()
}

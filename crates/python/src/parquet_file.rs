//! The one place that writes Parquet.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use tightlink_sim::tables::Column;

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

/// The name under which a file is written before it is whole.
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}

/// Writes a table under a temporary name and renames it: a killed run leaves no half file. NaN is
/// written as null: both mean "no value".
pub fn write(path: &Path, columns: &[(impl AsRef<str>, Column)]) -> Result<(), WriteError> {
    let temporary = temporary_name(path);
    let result = write_file(&temporary, columns).and_then(|()| Ok(std::fs::rename(&temporary, path)?));
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

fn write_file(path: &Path, columns: &[(impl AsRef<str>, Column)]) -> Result<(), WriteError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(File::create(path)?, schema(columns)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in columns {
        let Some(mut sink) = group.next_column()? else { break };
        match column {
            Column::Float(values) => {
                let levels: Vec<i16> = values.iter().map(|value| i16::from(!value.is_nan())).collect();
                let present: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
                sink.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
            }
            Column::Integer(values) => {
                sink.typed::<Int64Type>().write_batch(values, None, None)?;
            }
            Column::Text(values) => {
                let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(value.as_str())).collect();
                sink.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            }
            Column::Category(codes, names) => {
                let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(name.as_str())).collect();
                let values: Vec<ByteArray> = codes.iter().map(|&code| names[code as usize].clone()).collect();
                sink.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            }
        }
        sink.close()?;
    }
    group.close()?;
    writer.into_inner()?.flush()?;
    Ok(())
}

fn schema(columns: &[(impl AsRef<str>, Column)]) -> Result<TypePtr, ParquetError> {
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
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields).build()?))
}

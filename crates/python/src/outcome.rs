//! The outcome of a run, as Python sees it.

use std::path::PathBuf;

use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tightlink_run::digest::{columns_digest, length};
use tightlink_sim::tables::Table;

use crate::fault::detached;
use crate::{parquet_file, tables};

/// The tables and the manifest of a run.
#[pyclass(frozen, module = "tightlink._core")]
pub struct Outcome {
    tables: Vec<(&'static str, Table)>,
    manifest: String,
    until_s: Option<f64>,
}

impl Outcome {
    /// Of a run that was interrupted, with the simulated time until then.
    pub fn new(manifest: String, tables: Vec<(&'static str, Table)>, until_s: Option<f64>) -> Self {
        Self { tables, manifest, until_s }
    }

    pub fn add(&mut self, name: &'static str, table: Table) {
        self.tables.push((name, table));
    }
}

#[pymethods]
impl Outcome {
    /// Names of the tables.
    #[getter]
    fn tables(&self) -> Vec<&'static str> {
        self.tables.iter().map(|(name, _)| *name).collect()
    }

    /// The simulated time in seconds at which the run was interrupted, if it was.
    #[getter]
    fn until_s(&self) -> Option<f64> {
        self.until_s
    }

    /// A table as columns: arrays of numbers, lists of words, or (codes, words) where words repeat.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let table = self.tables.iter().find(|(known, _)| *known == name);
        let (_, table) = table.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        tables::to_python(py, table)
    }

    /// The manifest, as JSON.
    fn manifest(&self) -> &str {
        &self.manifest
    }

    /// Writes `<table>.parquet` for each table into a folder that exists.
    fn write(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        detached(py, || {
            for (name, table) in &self.tables {
                let path = directory.join(format!("{name}.parquet"));
                parquet_file::write(&path, &table.columns).map_err(|error| failed(&path, &error))?;
            }
            Ok(())
        })?
    }

    /// A Parquet file of one row: the texts as columns, then each table as a list of structs.
    fn row<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyBytes>> {
        let texts: Vec<(String, String)> =
            texts.iter().map(|(name, text)| Ok((name.extract()?, text.extract()?))).collect::<PyResult<_>>()?;
        let tables: Vec<(&str, &Table)> = self.tables.iter().map(|(name, table)| (*name, table)).collect();
        let content = detached(py, || parquet_file::row(&texts, &tables))?;
        let content = content.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &content))
    }
}

fn failed(path: &std::path::Path, error: &parquet_file::WriteError) -> PyErr {
    match error.system() {
        // What Python's own errors of files have, so that whoever catches it can name file and reason.
        Some(system) => PyOSError::new_err((system.raw_os_error(), system.kind().to_string(), path.to_owned())),
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}

/// Writes columns (arrays of numbers or lists of words, in order) as a Parquet file.
#[pyfunction]
pub fn write_parquet(py: Python<'_>, path: PathBuf, columns: &Bound<'_, PyDict>) -> PyResult<()> {
    let columns = tables::from_python(columns)?;
    let lengths: Vec<usize> = columns.iter().map(|(_, column)| length(column)).collect();
    if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(PyTypeError::new_err("columns of one table must have equal lengths"));
    }
    detached(py, || parquet_file::write(&path, &columns))?.map_err(|error| failed(&path, &error))
}

/// A digest of columns: equal for equal names and values.
#[pyfunction]
pub fn digest(columns: &Bound<'_, PyDict>) -> PyResult<String> {
    Ok(columns_digest(&tables::from_python(columns)?))
}

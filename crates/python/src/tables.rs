//! Tables between the engine and Python.

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tightlink_capture::tr::type_name;
use tightlink_sim::packet::Kind;
use tightlink_sim::probe::trace::Record;
use tightlink_sim::scenario::Scenario;
use tightlink_sim::tables::{Column, Table};

/// Columns with names of any origin.
pub type Columns = Vec<(String, Column)>;

pub fn to_python<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in &table.columns {
        match column {
            Column::Float(values) => columns.set_item(name, values.clone().into_pyarray(py))?,
            Column::Integer(values) => columns.set_item(name, values.clone().into_pyarray(py))?,
            Column::Text(values) => columns.set_item(name, values)?,
            Column::Category(codes, names) => columns.set_item(name, (codes.clone().into_pyarray(py), names))?,
        }
    }
    Ok(columns)
}

pub fn from_python(columns: &Bound<'_, PyDict>) -> PyResult<Columns> {
    let convert = |name: &str, value: &Bound<'_, PyAny>| -> PyResult<Column> {
        if let Ok(values) = value.extract::<PyReadonlyArray1<'_, f64>>() {
            return Ok(Column::Float(values.to_vec()?));
        }
        if let Ok(values) = value.extract::<PyReadonlyArray1<'_, i64>>() {
            return Ok(Column::Integer(values.to_vec()?));
        }
        value.extract::<Vec<String>>().map(Column::Text).map_err(|_| {
            PyTypeError::new_err(format!("column {name:?}: expected an array of float64 or int64, or a list of str"))
        })
    };
    columns
        .iter()
        .map(|(name, value)| {
            let name: String = name.extract()?;
            let column = convert(&name, &value)?;
            Ok((name, column))
        })
        .collect()
}

/// The table `packets`.
pub fn packets(scenario: &Scenario, records: &[Record]) -> Table {
    let nodes: Vec<String> = scenario.nodes.iter().map(|node| node.name.clone()).collect();
    let link = |record: &Record| &scenario.links[record.link as usize];
    let words = |values: Vec<&'static str>| {
        let mut names: Vec<String> = Vec::new();
        let codes = values.into_iter().map(|value| match names.iter().position(|name| name == value) {
            Some(code) => code as u32,
            None => {
                names.push(value.to_owned());
                names.len() as u32 - 1
            }
        });
        let codes = codes.collect();
        Column::Category(codes, names)
    };
    let sign = |record: &Record| match record.event.sign() {
        '+' => "+",
        '-' => "-",
        'r' => "r",
        _ => "d",
    };
    let mark = |record: &Record| match (record.marked, record.kind) {
        (false, _) => "",
        (true, Kind::Ack) => "ECE",
        (true, Kind::Segment | Kind::Datagram) => "CE",
    };
    let integers = |value: fn(&Record) -> i64| Column::Integer(records.iter().map(value).collect());
    Table {
        columns: vec![
            ("event", words(records.iter().map(sign).collect())),
            ("time_s", Column::Float(records.iter().map(|record| record.time.seconds()).collect())),
            ("from", Column::Category(records.iter().map(|record| link(record).from).collect(), nodes.clone())),
            ("to", Column::Category(records.iter().map(|record| link(record).to).collect(), nodes)),
            ("type", words(records.iter().map(|record| type_name(record.kind)).collect())),
            ("size_bytes", integers(|record| i64::from(record.size))),
            ("flow", integers(|record| i64::from(record.flow))),
            ("seq", integers(|record| i64::from(record.seq))),
            ("uid", integers(|record| record.uid as i64)),
            ("reason", words(records.iter().map(|record| record.event.reason()).collect())),
            ("mark", words(records.iter().map(mark).collect())),
        ],
    }
}

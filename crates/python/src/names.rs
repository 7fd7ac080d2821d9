//! The names of what a scenario may have, each with a line about it.

use pyo3::prelude::*;
use tightlink_sim::congestion::CONTROLS;
use tightlink_sim::network::queue::QUEUES;
use tightlink_sim::probe::series::METRICS;
use tightlink_sim::scenario::Recovery;

fn named(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|&(name, help)| (name.to_owned(), help.to_owned())).collect()
}

/// Names and descriptions of all congestion controls.
#[pyfunction]
pub fn congestion() -> Vec<(String, String)> {
    CONTROLS.iter().map(|control| (control.name.to_owned(), control.help.to_owned())).collect()
}

/// An option of a congestion control: name, unit, default, smallest and largest value, help.
type ControlOption = (&'static str, &'static str, f64, f64, f64, &'static str);

/// The options of a congestion control; none of a name that is not known.
#[pyfunction]
pub fn congestion_options(name: &str) -> Vec<ControlOption> {
    let known = CONTROLS.iter().filter(|control| control.name == name).flat_map(|control| control.options);
    known.map(|o| (o.name, o.unit.name(), o.default, o.least, o.most, o.help)).collect()
}

/// Whether a congestion control needs congestion marks; not, if it is not known.
#[pyfunction]
pub fn reads_marks(name: &str) -> bool {
    tightlink_sim::congestion::reads_marks(name)
}

/// The kinds of loss recovery that a congestion control works with; none of a name that is not known.
#[pyfunction]
pub fn congestion_recoveries(name: &str) -> Vec<&'static str> {
    let known = CONTROLS.iter().filter(|control| control.name == name);
    known
        .flat_map(|control| Recovery::ALL.into_iter().filter(|&kind| control.works_with(kind)))
        .map(Recovery::name)
        .collect()
}

/// Names and descriptions of all queue disciplines.
#[pyfunction]
pub fn queues() -> Vec<(String, String)> {
    named(QUEUES)
}

/// Names and descriptions of all kinds of loss recovery.
#[pyfunction]
pub fn recoveries() -> Vec<(String, String)> {
    named(&Recovery::ALL.map(|recovery| (recovery.name(), recovery.help())))
}

/// Names and descriptions of all metrics of the time series.
#[pyfunction]
pub fn metrics() -> Vec<(String, String)> {
    named(METRICS)
}

//! RED where a scenario leaves its thresholds, its weight or its bounds to the link (Floyd, Gummadi and Shenker 2001,
//! "Adaptive RED").

use serde_json::{Map, Value};

use crate::line::Line;

/// The delay at the middle of the thresholds, in seconds, and the smallest lower one, in packets (§4.3).
const DELAY_S: f64 = 0.005;
const LEAST: f64 = 5.0;
const SPREAD: f64 = 3.0;
/// The round trip of which the average is to see ten, in seconds (§4.2).
const ROUND_TRIP_S: f64 = 0.1;
/// Bound of the largest probability where it adapts itself (§4.1; ns-2's `bottom_`).
const LEAST_PROBABILITY: f64 = 0.01;

/// Fills in what is null in the table of a RED queue.
pub fn fill(queue: &mut Map<String, Value>, line: Line) {
    let number = |queue: &Map<String, Value>, key: &str| queue.get(key).and_then(Value::as_f64);
    let size = number(queue, "packet_bytes").unwrap_or(1000.0);
    let per_second = line.carries(size) / (8.0 * size);
    let (low, high) = match (number(queue, "min"), number(queue, "max")) {
        (None, None) => {
            let low = LEAST.max(DELAY_S * per_second / 2.0);
            (low, SPREAD * low)
        }
        (None, Some(high)) => (high / SPREAD, high),
        (Some(low), high) => (low, high.unwrap_or(SPREAD * low)),
    };
    queue.insert("min".into(), low.into());
    queue.insert("max".into(), high.into());
    if queue.get("weight").is_some_and(Value::is_null) {
        queue.insert("weight".into(), weight(per_second, line.delay_s).into());
    }
    if let Some(adaptive) = queue.get_mut("adaptive").and_then(Value::as_object_mut)
        && adaptive.get("least").is_some_and(Value::is_null)
    {
        // At least one drop in a window of 100 ms of packets of 1000 B, or the smallest window would not notice.
        let least = LEAST_PROBABILITY.min(8000.0 / (ROUND_TRIP_S * line.carries(1000.0)));
        adaptive.insert("least".into(), least.into());
    }
}

/// The weight with which RED's average follows in ten round trips.
fn weight(per_second: f64, delay_s: f64) -> f64 {
    let round_trip = ROUND_TRIP_S.max(3.0 * (delay_s + 1.0 / per_second));
    let weight = -libm::expm1(-1.0 / (10.0 * round_trip * per_second));
    // Rounded to twelve digits, as it always was: exponentials differ from machine to machine in their last digit.
    format!("{weight:.11e}").parse().unwrap_or(weight)
}

//! Equal sources at equal places get equal service.

use super::{run, scatter, site, users};
use crate::engine::common::{integers, packets, scenario, wire};
use tightlink_sim::Scenario;
use tightlink_sim::scenario::Profile;

const PLACES: u32 = 6;
const RUNS: u32 = 40;

/// Places around a router, each with its users, whose wires are too slow for them.
fn star(seed: u64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 30.0, PLACES + 1);
    scenario.seed = seed;
    for place in 0..PLACES {
        scenario.links.extend(wire(&format!("wire{place}"), (place, PLACES), 2e6, 5e-3, packets(20)));
    }
    let sites: Vec<_> = (0..PLACES).map(|place| site(place, 8, 8)).collect();
    let mut group = users("users", Profile::Rfc, &sites);
    group.files = vec![super::file(20.0, Some(1.5))];
    scenario.users.push(group);
    scenario
}

/// Friedman's statistic: within each run the places are ranked by what their sources brought onto their wire; if none
/// is preferred, it has nearly the χ² distribution with PLACES − 1 degrees of freedom.
fn friedman(runs: &[Vec<i64>]) -> f64 {
    let (places, count) = (f64::from(PLACES), runs.len() as f64);
    let mut sums = vec![0.0; PLACES as usize];
    for run in runs {
        for (sum, value) in sums.iter_mut().zip(run) {
            let below = run.iter().filter(|other| *other < value).count() as f64;
            let equal = run.iter().filter(|other| *other == value).count() as f64;
            *sum += below + (equal + 1.0) / 2.0;
        }
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    12.0 / (count * places * (places + 1.0)) * squares - 3.0 * count * (places + 1.0)
}

/// Of the χ² distribution with five degrees of freedom, the value that is exceeded once in a thousand times.
const RARE: f64 = 20.515;

fn of_wires(change: impl Fn(&mut Scenario), column: &str) -> Vec<Vec<i64>> {
    let run_one = |seed| {
        let mut scenario = star(u64::from(seed));
        change(&mut scenario);
        let outcome = run(&scenario);
        assert!(outcome.total("links", "packets_dropped") > 100, "nobody competes");
        // From each place to the router in the middle.
        integers(outcome.table("links"), column).iter().step_by(2).copied().collect()
    };
    (0..RUNS).map(run_one).collect()
}

#[test]
fn no_place_is_preferred() {
    for column in ["packets_in", "bytes_out", "packets_dropped"] {
        let statistic = friedman(&of_wires(|_| {}, column));
        assert!(statistic < RARE, "{column}: {statistic}");
    }
}

#[test]
fn the_order_of_places_does_not_matter() {
    let reversed = of_wires(|scenario| scenario.users[0].sites.reverse(), "bytes_out");
    assert!(friedman(&reversed) < RARE);
}

/// The test sees a difference where there is one.
#[test]
fn a_longer_wire_is_seen() {
    let longer =
        of_wires(|scenario| scenario.links.iter_mut().take(2).for_each(|link| link.delay_s = 0.05), "bytes_out");
    assert!(friedman(&longer) > RARE);
}

#[test]
fn datagrams_prefer_no_place() {
    let scattered = |scenario: &mut Scenario| {
        scenario.users.clear();
        scenario.scatter.push(scatter(&(0..PLACES).collect::<Vec<_>>(), 300.0, &[(500, 0.5), (1500, 0.5)], 30.0));
    };
    for column in ["packets_in", "packets_dropped"] {
        let statistic = friedman(&of_wires(scattered, column));
        assert!(statistic < RARE, "{column}: {statistic}");
    }
}

//! Digests of tables: what "the same bytes" is checked with.

use sha2::{Digest, Sha256};
use tightlink_sim::Interrupted;
use tightlink_sim::tables::{Column, Table};

/// The digest of all tables of a run, in order; those of samples may be so large that it takes its time.
///
/// # Errors
/// `interrupted` said so.
pub fn tables_digest(
    tables: &[(&'static str, Table)],
    mut interrupted: impl FnMut() -> bool,
) -> Result<String, Interrupted> {
    let mut hash = Sha256::new();
    for (name, table) in tables {
        text(&mut hash, name);
        columns(&mut hash, &table.columns, &mut interrupted)?;
    }
    Ok(hex(hash))
}

/// The digest of one table, of columns with names of any origin.
#[must_use]
pub fn columns_digest(table: &[(String, Column)]) -> String {
    let mut hash = Sha256::new();
    // Nobody interrupts it.
    let _ = columns(&mut hash, table, &mut || false);
    hex(hash)
}

/// Number of rows.
#[must_use]
pub fn length(column: &Column) -> usize {
    match column {
        Column::Float(values) => values.len(),
        Column::Integer(values) => values.len(),
        Column::Text(values) => values.len(),
        Column::Category(codes, _) => codes.len(),
    }
}

/// A hash as 64 digits.
#[must_use]
pub fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn columns(
    hash: &mut Sha256,
    table: &[(impl AsRef<str>, Column)],
    interrupted: &mut impl FnMut() -> bool,
) -> Result<(), Interrupted> {
    for (name, column) in table {
        text(hash, name.as_ref());
        hash.update((length(column) as u64).to_le_bytes());
        let hash = &mut *hash;
        match column {
            Column::Float(values) => each(values, interrupted, |value| {
                // One NaN stands for all: which one a machine produces is its own affair.
                let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
                hash.update(bits.to_le_bytes());
            })?,
            Column::Integer(values) => each(values, interrupted, |value| hash.update(value.to_le_bytes()))?,
            Column::Text(values) => each(values, interrupted, |value| text(hash, value))?,
            Column::Category(codes, names) => each(codes, interrupted, |&code| text(hash, &names[code as usize]))?,
        }
    }
    Ok(())
}

/// Does something with each value, unless `interrupted` says true now and then.
fn each<T>(values: &[T], interrupted: &mut impl FnMut() -> bool, mut what: impl FnMut(&T)) -> Result<(), Interrupted> {
    const BETWEEN_QUESTIONS: usize = 1 << 16;
    for part in values.chunks(BETWEEN_QUESTIONS) {
        part.iter().for_each(&mut what);
        if interrupted() {
            return Err(Interrupted);
        }
    }
    Ok(())
}

//! Digests of tables: what "the same bytes" is checked with.

use sha2::{Digest, Sha256};
use tightlink_sim::tables::{Column, Table};

use crate::tables::{Columns, length};

/// The digest of all tables of a run, in order.
pub fn tables_digest(tables: &[(&'static str, Table)]) -> String {
    let mut hash = Sha256::new();
    for (name, table) in tables {
        text(&mut hash, name);
        columns(&mut hash, &table.columns);
    }
    hex(hash)
}

/// The digest of one table.
pub fn columns_digest(table: &Columns) -> String {
    let mut hash = Sha256::new();
    columns(&mut hash, table);
    hex(hash)
}

/// A hash as 64 digits.
pub fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn columns(hash: &mut Sha256, table: &[(impl AsRef<str>, Column)]) {
    for (name, column) in table {
        text(hash, name.as_ref());
        hash.update((length(column) as u64).to_le_bytes());
        match column {
            Column::Float(values) => {
                for value in values {
                    // One NaN stands for all: which one a machine produces is its own affair.
                    let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
                    hash.update(bits.to_le_bytes());
                }
            }
            Column::Integer(values) => values.iter().for_each(|value| hash.update(value.to_le_bytes())),
            Column::Text(values) => values.iter().for_each(|value| text(hash, value)),
            Column::Category(codes, names) => codes.iter().for_each(|&code| text(hash, &names[code as usize])),
        }
    }
}

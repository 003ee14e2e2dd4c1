//! Plans that run once for each combination of some values: `[matrix]` mirrors the plan, with lists of values.
//!
//! A cell is the plan with one combination laid over it, as text, so that it is checked like any plan and its run file
//! can be understood alone.

use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Table, Value};

use super::findings::Findings;
use super::read::explain;
use super::value::{PlanValue, Whole};
use super::{Options, Parsed, PlanErrors, parse};
use plimsoll_stats::split_mix;

/// More would run for years.
const MOST_CELLS: usize = 10_000;
const MOST_REPEATS: i64 = 100;

/// The cells of a plan, in the order in which they run.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// As written; the last one changes fastest.
    pub axes: Vec<Axis>,
    pub repeat: u32,
    pub order: Order,
    pub cells: Vec<Cell>,
}

/// A key of the plan, and the values that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The key's last part, or all of it where two axes end alike: `memory`.
    pub name: String,
    /// From the plan's root: `system.db.limits.memory`.
    pub key: String,
    /// As text: `1GiB`.
    pub values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    AsWritten,
    /// Anew in each repeat, by the plan's seed: what drifts over hours hits no value more than others.
    Random,
}

/// One combination, once.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// From 0.
    pub repeat: u32,
    /// Index of the value on each axis.
    pub choice: Vec<usize>,
    /// The plan of this cell.
    pub text: String,
    pub parsed: Parsed,
}

impl Matrix {
    /// `memory=1GiB, drive=micron-5200-eco-1920g`.
    pub fn label(&self, choice: &[usize]) -> String {
        let values = self.axes.iter().zip(choice);
        values
            .map(|(axis, place)| format!("{}={}", axis.name, axis.values[*place]))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// An axis: its key's parts, its span in the text, its values.
struct RawAxis {
    path: Vec<String>,
    span: Range<usize>,
    values: Vec<Value>,
}

/// The plan's cells; `None` for one that has no matrix.
///
/// # Errors
/// What is wrong with the matrix, or with the plan that one of its combinations makes.
pub fn matrix(text: &str, options: &Options) -> Result<Option<Matrix>, PlanErrors> {
    // A plan that cannot be read is reported by `parse`, which comes first.
    let Ok(root) = text.parse::<Table>() else {
        return Ok(None);
    };
    let Some(Value::Table(written)) = root.get("matrix") else {
        return Ok(None);
    };
    let mut findings = Findings::new(text);
    let made = build(&root, written, options, &mut findings);
    findings.finish(made).map(|(matrix, _)| Some(matrix))
}

fn build(
    root: &Table,
    written: &Table,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Matrix> {
    let document = DeTable::parse(findings.text()).ok()?;
    let spans = document.get_ref().get("matrix")?;
    let mut found = Vec::new();
    axes(written, spans, &mut Vec::new(), &mut found, findings);
    let repeat: Option<Whole<1, MOST_REPEATS>> = setting(spans, "repeat", None, findings);
    let repeat = repeat.map_or(1, |repeat| repeat.resolved());
    let order = setting(spans, "order", Order::AsWritten, findings);
    if written
        .keys()
        .all(|key| ["repeat", "order"].contains(&key.as_str()))
    {
        findings.error(
            spans.span(),
            "the matrix varies nothing",
            "name a key of the plan with a list of values",
        );
        return None;
    }
    if found.is_empty() {
        return None;
    }
    let cells = found
        .iter()
        .try_fold(repeat as usize, |n, axis| n.checked_mul(axis.values.len()));
    if cells.is_none_or(|cells| cells > MOST_CELLS) {
        let help = format!("at most {MOST_CELLS} are possible");
        findings.error(spans.span(), "the matrix has too many combinations", help);
        return None;
    }
    let seed = options
        .seed
        .or_else(|| u64::try_from(root.get("seed")?.as_integer()?).ok())
        .unwrap_or(1);
    let axes: Vec<Axis> = found.iter().map(|axis| axis.named(&found)).collect();
    let mut cells = Vec::new();
    for (repeat, choice) in choices(&found, repeat, order, seed) {
        cells.push(cell(
            root, &found, &axes, repeat, choice, options, findings,
        )?);
    }
    Some(Matrix {
        axes,
        repeat,
        order,
        cells,
    })
}

/// Every list below the matrix is an axis.
fn axes(
    written: &Table,
    spans: &Spanned<DeValue<'_>>,
    path: &mut Vec<String>,
    found: &mut Vec<RawAxis>,
    findings: &mut Findings<'_>,
) {
    let DeValue::Table(table) = spans.get_ref() else {
        return;
    };
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    for (key, place) in keys {
        let name = key.get_ref().to_string();
        if path.is_empty() && ["repeat", "order"].contains(&name.as_str()) {
            continue;
        }
        path.push(name.clone());
        match written.get(&name) {
            Some(Value::Table(below)) => axes(below, place, path, found, findings),
            Some(Value::Array(values)) if !values.is_empty() => {
                found.push(RawAxis {
                    path: path.clone(),
                    span: key.span(),
                    values: values.clone(),
                });
            }
            _ => {
                let help = format!("write the values that it takes: {name} = [\"…\", \"…\"]");
                findings.error(
                    key.span(),
                    format!("`{}` is no list of values", path.join(".")),
                    help,
                );
            }
        }
        path.pop();
    }
}

/// A setting of the matrix itself.
fn setting<T: DeserializeOwned>(
    spans: &Spanned<DeValue<'_>>,
    key: &str,
    usual: T,
    findings: &mut Findings<'_>,
) -> T {
    let written = match spans.get_ref() {
        DeValue::Table(table) => table.get(key),
        _ => None,
    };
    let Some(written) = written else {
        return usual;
    };
    match T::deserialize(ValueDeserializer::from(written.clone())) {
        Ok(value) => value,
        Err(fault) => {
            explain(findings, &fault, key);
            usual
        }
    }
}

impl RawAxis {
    fn last_part(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// The last part of its key, where that is enough among all.
    fn named(&self, all: &[Self]) -> Axis {
        let same = all
            .iter()
            .filter(|other| other.last_part() == self.last_part());
        Axis {
            name: if same.count() == 1 {
                self.last_part().to_owned()
            } else {
                self.path.join(".")
            },
            key: self.path.join("."),
            values: self.values.iter().map(text_of).collect(),
        }
    }
}

fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// All combinations of each repeat.
fn choices(found: &[RawAxis], repeat: u32, order: Order, seed: u64) -> Vec<(u32, Vec<usize>)> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in found {
        let longer = |choice: &Vec<usize>| {
            let choice = choice.clone();
            (0..axis.values.len()).map(move |place| [choice.as_slice(), &[place]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    let mut state = seed;
    let mut ordered = Vec::new();
    for repeat in 0..repeat {
        let mut round = all.clone();
        if order == Order::Random {
            // Fisher and Yates.
            for i in (1..round.len()).rev() {
                round.swap(i, (split_mix(&mut state) % (i as u64 + 1)) as usize);
            }
        }
        ordered.extend(round.into_iter().map(|choice| (repeat, choice)));
    }
    ordered
}

fn cell(
    root: &Table,
    found: &[RawAxis],
    axes: &[Axis],
    repeat: u32,
    choice: Vec<usize>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Cell> {
    let mut plan = root.clone();
    plan.remove("matrix");
    for (axis, place) in found.iter().zip(&choice) {
        if let Err(why) = lay_over(&mut plan, &axis.path, axis.values[*place].clone()) {
            findings.error(
                axis.span.clone(),
                why,
                "the matrix varies keys of the plan that it stands in",
            );
            return None;
        }
    }
    let values = axes.iter().zip(&choice);
    let combination = values
        .map(|(axis, place)| format!("{} = {}", axis.key, axis.values[*place]))
        .collect::<Vec<_>>()
        .join(", ");
    let body = toml::to_string(&plan).expect("what was read from TOML can be written as TOML");
    let text = format!("# A cell of a matrix: {combination}\n{body}");
    match parse(&text, options) {
        Ok(parsed) => Some(Cell {
            repeat,
            choice,
            text,
            parsed,
        }),
        Err(PlanErrors(errors)) => {
            let span = found
                .first()
                .map(|axis| axis.span.clone())
                .unwrap_or_default();
            for error in errors {
                let help = error.help.unwrap_or_default();
                findings.error(
                    span.clone(),
                    format!("with {combination}: {}", error.message),
                    help,
                );
            }
            None
        }
    }
}

/// Sets a key of the plan; a step is found by its name.
fn lay_over(plan: &mut Table, path: &[String], value: Value) -> Result<(), String> {
    let (key, above) = path.split_last().ok_or("the matrix names no key")?;
    let mut at: &mut Table = plan;
    let mut parts = above.iter();
    while let Some(part) = parts.next() {
        at = match at
            .entry(part.clone())
            .or_insert_with(|| Value::Table(Table::new()))
        {
            Value::Table(below) => below,
            Value::Array(steps) if part == "step" => {
                let name = parts
                    .next()
                    .ok_or("`step` needs a step's name: step.NAME.users")?;
                step(steps, name).ok_or_else(|| format!("there is no step `{name}`"))?
            }
            _ => return Err(format!("`{part}` is no table of the plan")),
        };
    }
    at.insert(key.clone(), value);
    Ok(())
}

/// By its name, or by what it runs where it has none.
fn step<'a>(steps: &'a mut [Value], name: &str) -> Option<&'a mut Table> {
    steps
        .iter_mut()
        .filter_map(Value::as_table_mut)
        .find(|step| {
            step.get("name")
                .or_else(|| step.get("run"))
                .and_then(Value::as_str)
                == Some(name)
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::resolved::{LoadStep, MediumKind};
    use crate::tests::cases;

    const PLAN: &str = "title = \"t\"\nseed = 5\n[medium.data]\npath = \".\"\n[system.db]\nengine = \"postgres\"\n\
        [workload.w.tpcc]\nwarehouses = 2\n[[step]]\nname = \"load\"\nrun = \"w\"\nsystem = \"db\"\nusers = 1\n";

    fn with(matrix: &str) -> Result<Option<super::Matrix>, PlanErrors> {
        super::matrix(&format!("{PLAN}[matrix]\n{matrix}\n"), &Options::default())
    }

    fn wrong(matrix: &str) -> String {
        with(matrix).unwrap_err().to_string()
    }

    #[test]
    fn every_combination_is_a_plan_of_its_own() {
        let drives = "medium.data.path = [\"/a\", \"/b\", \"/c\"]";
        let matrix = with(&format!(
            "system.db.limits.memory = [\"1GiB\", \"4GiB\"]\n{drives}"
        ))
        .unwrap()
        .unwrap();
        assert_eq!(
            matrix
                .axes
                .iter()
                .map(|axis| axis.name.as_str())
                .collect::<Vec<_>>(),
            ["memory", "path"]
        );
        assert_eq!(matrix.axes[0].key, "system.db.limits.memory");
        let labels: Vec<String> = matrix
            .cells
            .iter()
            .map(|cell| matrix.label(&cell.choice))
            .collect();
        assert_eq!(labels.len(), 6);
        assert_eq!(
            labels[1], "memory=1GiB, path=/b",
            "the last axis changes fastest"
        );
        assert_eq!(labels[3], "memory=4GiB, path=/a");
        let plan = &matrix.cells[5].parsed.plan;
        assert_eq!(plan.systems[0].limits.memory.unwrap().0, 4 << 30);
        assert_eq!(
            (plan.media[0].path.as_str(), &plan.media[0].kind),
            ("/c", &MediumKind::Directory)
        );
        assert!(
            matrix.cells[5].text.starts_with(
                "# A cell of a matrix: system.db.limits.memory = 4GiB, medium.data.path"
            )
        );
        assert_eq!(
            parse(&matrix.cells[5].text, &Options::default()).unwrap(),
            matrix.cells[5].parsed,
            "stands alone"
        );
    }

    #[test]
    fn a_step_is_varied_by_its_name() {
        let matrix = with("step.load.users = [[1, 2], 8]").unwrap().unwrap();
        let users = |cell: &Cell| {
            let step: &LoadStep = cell.parsed.plan.load_steps().next().unwrap();
            step.points
                .iter()
                .map(|load| load.users())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            matrix.cells.iter().map(users).collect::<Vec<_>>(),
            [vec![1, 2], vec![8]]
        );
        assert_eq!(matrix.axes[0].values, ["[1, 2]", "8"]);
    }

    #[test]
    fn axes_that_end_alike_go_by_their_whole_keys() {
        let matrix = with(
            "system.db.settings.a = [1]\nsystem.db.limits.cpus = [2.0]\nmedium.data.path = [\".\"]",
        );
        assert_eq!(matrix.unwrap().unwrap().axes[0].name, "a");
        let alike = with("seed = [1]\nsystem.db.settings.seed = [2]")
            .unwrap()
            .unwrap();
        assert_eq!(alike.axes[1].name, "system.db.settings.seed");
    }

    #[test]
    fn faults_are_reported_where_they_stand() {
        for (matrix, expected) in cases(
            r#"
system.db.limits.memory = "1GiB" => 15:18: `system.db.limits.memory` is no list of values
step.other.users = [1] => : there is no step `other`
repeat = 0 ; seed = [1] => `repeat` cannot be 0
order = "up" ; seed = [1] => unknown value `up`
repeat = 3 => the matrix varies nothing
seed.x = [1] => `seed` is no table of the plan
system.db.limits.memory = ["1GiB", "1MiB"] => with system.db.limits.memory = 1MiB: 1.0 MiB is too little
system.db.limts.memory = ["1GiB"] => unknown key `limts`
"#,
        ) {
            let message = wrong(&matrix.replace(" ; ", "\n"));
            assert!(message.contains(expected), "{matrix}: {message}");
        }
        let many = format!(
            "seed = {:?}\nworkload.w.tpcc.warehouses = {:?}",
            (0..200).collect::<Vec<_>>(),
            vec![1; 51]
        );
        assert!(wrong(&many).contains("too many combinations"));
        assert_eq!(super::matrix(PLAN, &Options::default()), Ok(None));
    }

    proptest! {
        #[test]
        fn a_random_order_is_a_permutation_of_each_repeat(seed: u64, repeat in 1u32..4, n in 1usize..6) {
            let axis = RawAxis { path: vec!["seed".into()], span: 0..0, values: vec![Value::Integer(1); n] };
            let all = choices(&[axis], repeat, Order::Random, seed);
            prop_assert_eq!(all.len(), n * repeat as usize);
            for of in 0..repeat {
                let places: BTreeSet<&Vec<usize>> =
                    all.iter().filter(|(repeat, _)| *repeat == of).map(|(_, choice)| choice).collect();
                prop_assert_eq!(places.len(), n);
            }
        }

        #[test]
        fn rubbish_never_panics(text in "[ -~\n]*") {
            let _ = super::matrix(&format!("{PLAN}[matrix]\n{text}"), &Options::default());
        }
    }
}

//! The data island: the charts of a page as JSON within a `<script type="application/json">`.
//!
//! Columns instead of rows, and times and grounds shared between charts, because a run of hours has a million numbers.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::{ChartGround, DrawnChart, LineChart, ScriptChart};
use crate::message::Messages;

/// Fit for a script element: no `<` is left in it.
pub(crate) fn text(m: &Messages, charts: &[&ScriptChart]) -> String {
    let mut shared = SharedParts::default();
    let charts: Vec<Value> = charts.iter().map(|own| shared.chart(&own.drawn)).collect();
    let labels = m.chart_labels().into_iter();
    let labels = labels.map(|(id, text)| (id.to_owned(), text.into()));
    let island = json!({
        "labels": Value::Object(labels.collect()),
        "charts": charts,
        "grounds": shared.grounds.iter().map(|own| short_json(&**own)).collect::<Vec<_>>(),
        "columns": shared.columns,
    });
    island.to_string().replace('<', "\\u003c")
}

/// What several charts have, each kept once.
#[derive(Default)]
struct SharedParts {
    columns: Vec<Vec<f64>>,
    known: HashMap<Vec<u64>, usize>,
    grounds: Vec<Rc<ChartGround>>,
}

impl SharedParts {
    fn chart(&mut self, chart: &DrawnChart) -> Value {
        let mut json = short_json(chart);
        if let DrawnChart::Lines(own) = chart {
            json["ground"] = self.ground(own).into();
            for (place, line) in own.lines.iter().enumerate() {
                json["lines"][place]["x"] = self.column(&line.x).into();
            }
        }
        json
    }

    fn column(&mut self, x: &[f64]) -> usize {
        let key = x.iter().map(|x| x.to_bits()).collect();
        *self.known.entry(key).or_insert_with(|| {
            self.columns.push(x.to_vec());
            self.columns.len() - 1
        })
    }

    fn ground(&mut self, chart: &LineChart) -> usize {
        let mut grounds = self.grounds.iter();
        grounds
            .position(|own| *own == chart.ground)
            .unwrap_or_else(|| {
                self.grounds.push(Rc::clone(&chart.ground));
                self.grounds.len() - 1
            })
    }
}

/// Without what is not set.
fn short_json(value: &impl serde::Serialize) -> Value {
    let mut json = serde_json::to_value(value).expect("charts have string keys only");
    shorten(&mut json);
    json
}

fn shorten(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            fields.values_mut().for_each(shorten);
            fields.retain(|_, value| !is_unset(value));
        }
        Value::Array(all) => all.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{ChartLine, ChartMark};

    /// With a mark of this text.
    fn chart(text: &str) -> ScriptChart {
        let mark = ChartMark {
            at: 1.0,
            text: text.to_owned(),
            severity: "error",
        };
        let line = |name: &str| ChartLine {
            name: name.to_owned(),
            x: vec![0.0, 1.0].into(),
            y: vec![Some(1.0), None],
            ..ChartLine::default()
        };
        let chart = LineChart {
            lines: vec![line("a"), line("b")],
            ground: Rc::new(ChartGround {
                areas: Vec::new(),
                marks: vec![mark],
            }),
            ..LineChart::default()
        };
        ScriptChart::lines("test", String::new(), chart)
    }

    #[test]
    fn what_charts_share_is_there_once_and_a_gap_stays() {
        let (a, b) = (chart("same"), chart("same"));
        let json: Value = serde_json::from_str(&text(&Messages::english(), &[&a, &b])).unwrap();
        assert_eq!(json["columns"], json!([[0.0, 1.0]]));
        assert_eq!(json["grounds"].as_array().unwrap().len(), 1);
        let lines = &json["charts"][1]["lines"];
        assert_eq!(
            (&lines[1]["x"], &lines[1]["y"]),
            (&json!(0), &json!([1.0, null]))
        );
        assert_eq!(lines[1].get("is_silent"), None);
    }

    #[test]
    fn nothing_in_it_ends_the_script_element() {
        let evil = chart("</script><script>alert(1)</script><!--");
        let json = text(&Messages::english(), &[&evil]);
        assert!(!json.contains('<') && json.contains("\\u003c/script>"));
    }
}

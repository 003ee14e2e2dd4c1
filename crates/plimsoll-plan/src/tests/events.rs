//! What happens to members of arrays and clusters.

use super::{cases, drives, survives};
use crate::member_event::{MemberChange, MemberEvent};
use crate::units::Nanos;
use crate::{Parsed, PlanErrors, ResolvedPlan, parse};

const CLUSTER: &str = "drive = \"vsan:4:2:fast-ssd-1t\"";

/// A plan with one step on a medium of such keys.
fn step(medium: &str, step: &str) -> Result<Parsed, PlanErrors> {
    let text = format!(
        "title = \"t\"\n[medium.m]\npath = \"/m\"\n{medium}\n[system.db]\nengine = \"sqlite\"\n\
         [workload.w.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"w\"\nsystem = \"db\"\non = [\"m\"]\n{step}\n"
    );
    parse(&text, &drives())
}

#[test]
fn members_fail_and_are_replaced_at_their_times() {
    let events = "event = [{ at = \"40s\", replace = 2 }, { at = \"20s\", fail = 2 }, \
                  { at = \"5s\", slow = 1, factor = 2.5 }, { at = \"10s\", network = \"1Gb\" }]";
    let plan = step(CLUSTER, &format!("users = [4]\n{events}"))
        .unwrap()
        .plan;
    let at = |seconds, change| MemberEvent {
        at: Nanos::from_secs(seconds),
        change,
    };
    let slow = MemberChange::Slow {
        member: 1,
        factor: 2.5,
    };
    let expected = [
        at(5, slow),
        at(10, MemberChange::Network { gbit: 1 }),
        at(20, MemberChange::Fail { member: 2 }),
        at(40, MemberChange::Replace { member: 2 }),
    ];
    assert_eq!(plan.steps[0].load().unwrap().events, expected);
    survives(&plan);
    let kept = serde_json::to_string(&expected[2]).unwrap();
    assert_eq!(kept, r#"{"at":20000000000,"action":"fail","member":2}"#);
    assert_eq!(
        serde_json::from_str::<MemberEvent>(&kept).unwrap(),
        expected[2]
    );
}

#[test]
fn events_that_cannot_happen_are_refused() {
    for (text, part) in cases(
        r#"
drive = "raid5:4:fast-ssd-1t" | users = [1, 2] ; event = [{ at = "1s", fail = 1 }] => `event` and more than one point exclude each other
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "1s", fail = 4 }] => there is no member 4
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "1s" }] => an event is one of `fail`, `replace`, `return`, `slow`, `network`
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "1s", slow = 1 }] => `slow` lacks its `factor`
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "1s", fail = 1, factor = 2 }] => `factor` goes with `slow`
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "1s", slow = 1, factor = 0.5 }] => `factor` cannot be 0.5
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "1s", fail = 1 }, { at = "2s", slow = 1, factor = 2 }] => member 1 becomes slow, and has failed before
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "1s", network = "1Gb" }] => an array on its host has no `network`
drive = "vsan:4:2:fast-ssd-1t" | users = [1] ; event = [{ at = "1s", network = "0Gb" }] => `network` cannot be "0Gb"
drive = "raid5:4:fast-ssd-1t" ; without_fuse = "plain_directory" | users = [1] ; event = [{ at = "1s", fail = 1 }] => the members of these media cannot fail
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ fail = 1 }] => `at` is missing
drive = "raid5:4:fast-ssd-1t" | users = [1] ; measure = "30s" ; event = [{ at = "40s", fail = 1 }] => nothing is measured before or after an event at 40s
drive = "raid5:4:fast-ssd-1t" | users = [1] ; event = [{ at = "2s", replace = 1 }] => member 1 is replaced, and is not missing
drive = "raid5:4:fast-ssd-1t:spares=1" | users = [1] ; event = [{ at = "1s", fail = 1 }, { at = "2s", return = 1 }] => member 1 returns, and is not missing
drive = "fast-ssd-1t" | users = [1] ; event = [{ at = "1s", fail = 1 }] => the members of these media cannot fail
"#,
    ) {
        let text = text.replace(" ; ", "\n");
        let (medium, text) = text.split_once(" | ").unwrap();
        let errors = step(medium, text).unwrap_err().to_string();
        assert!(errors.contains(part), "{errors}");
    }
}

#[test]
fn random_moments_come_from_the_seed_and_are_kept() {
    let plan = |head: &str, events: &str| {
        let text = format!(
            "title = \"t\"\n{head}\n[medium.m]\npath = \"/m\"\ndrive = \"raid6:5:fast-ssd-1t\"\n\
             [system.db]\nengine = \"sqlite\"\n[workload.w.tpcc]\nwarehouses = 1\n\
             [[step]]\nrun = \"w\"\nsystem = \"db\"\non = [\"m\"]\nusers = [1]\nmeasure = \"60s\"\nevent = [{events}]\n"
        );
        parse(&text, &drives())
    };
    let events = "{ at = \"random\", fail = 1 }, { at = \"random\", fail = 3 }, { at = \"30s\", replace = 1 }, \
                  { at = \"random\", replace = 3 }";
    let of = |head: &str| plan(head, events).unwrap().plan;
    let own = of("seed = 7");
    let moments = |plan: &ResolvedPlan| -> Vec<Nanos> {
        let events = &plan.steps[0].load().unwrap().events;
        events.iter().map(|event| event.at).collect()
    };
    let at = moments(&own);
    let order = [
        Nanos::SECOND,
        at[0],
        at[1],
        at[2],
        at[3],
        Nanos::from_secs(60),
    ];
    assert!(order.is_sorted() && at[2] == Nanos::from_secs(30), "{at:?}");
    survives(&own);
    assert_eq!(moments(&of("seed = 7")), at);
    assert_eq!(moments(&of("data_seed = 7")), at);
    assert_ne!(moments(&of("seed = 8")), at);
    let none =
        "{ at = \"1s\", fail = 1 }, { at = \"random\", fail = 2 }, { at = \"1s\", replace = 1 }";
    let errors = plan("", none).unwrap_err().to_string();
    assert!(errors.contains("a random event has no time"), "{errors}");
}

//! The same request, sent in every way a client may send it.

use super::*;
use serde_json::json;

/// Every getter on a field of its own, and the faults they found.
fn read(mut fields: Fields) -> serde_json::Value {
    let values = json!({
        "name": fields.text("name"),
        "nodes": fields.integer("nodes"),
        "enabled": fields.flag("enabled"),
        "disk_size": fields.size("disk_size"),
        "tags": fields.list_or_none("tags"),
        "copy_settings": fields.has_content("copy_settings"),
    });
    match fields.into_problems().finish() {
        Ok(()) => values,
        Err(error) => json!(error.to_string()),
    }
}

fn form(text: &str) -> serde_json::Value {
    match form::parse(text.as_bytes(), "form") {
        Ok(fields) => read(fields),
        Err(error) => json!(error.to_string()),
    }
}

fn json_text(text: &str) -> serde_json::Value {
    match json::parse(text.as_bytes()) {
        Ok(fields) => read(fields),
        Err(error) => json!(error.to_string()),
    }
}

#[test]
fn form_and_json_say_the_same() {
    let check = |form_text: &str, json: &str| {
        let (from_form, from_json) = (form(form_text), json_text(json));
        assert!(from_form.is_object(), "{form_text}: {from_form}");
        assert_eq!(from_form, from_json, "{form_text} {json}");
    };
    check("", "{}");
    check("name=a+b%21&nodes=3", r#"{"name":"a b!","nodes":3}"#);
    check("name=%E2%98%83", r#"{"name":"\u2603"}"#);
    check("enabled=TRUE", r#"{"enabled":true}"#);
    check("enabled=0", r#"{"enabled":false}"#);
    check("name=&nodes=&enabled=&tags=", r#"{"name":"","nodes":null,"enabled":"","tags":""}"#);
    check("disk_size=0", r#"{"disk_size":0}"#);
    check("disk_size=50", r#"{"disk_size":50}"#);
    check("tags=a,b", r#"{"tags":["a","b"]}"#);
    check("tags=[a, b]", r#"{"tags":["a","b"]}"#);
    check("tags=%5B%22a%22%2C%22b%22%5D", r#"{"tags":["a","b"]}"#);
    check("tags[]=a&tags[]=b", r#"{"tags":["a","b"]}"#);
    check("tags%5B%5D=a", r#"{"tags":["a"]}"#);
    check("tags=a&tags=b", r#"{"tags":["a","b"]}"#);
    check("tags=[]", r#"{"tags":[]}"#);
    check("tags[]=", r#"{"tags":null}"#);
    check("unknown=1&unknown=2", r#"{"unknown":1,"unknown":{"deep":[]}}"#);
    check("copy_settings=", r#"{"copy_settings":{}}"#);
    check("copy_settings=x", r#"{"copy_settings":{"a":1}}"#);
}

#[test]
fn json_is_strict() {
    let check = |text: &str, expected: &str| assert_eq!(json_text(text), expected, "{text}");
    check(r#"{"nodes":"3"}"#, "nodes: must be an integer");
    check(r#"{"nodes":3.5}"#, "nodes: must be an integer");
    check(r#"{"nodes":99999999999999999999}"#, "nodes: must be an integer");
    check(r#"{"name":3}"#, "name: must be a string");
    check(r#"{"enabled":1}"#, "enabled: must be true or false");
    check(r#"{"tags":"a,b"}"#, "tags: must be a list of strings");
    check(r#"{"tags":[1]}"#, "tags: must be a list of strings");
    check(r#"{"name":"a","name":"b"}"#, "name: must be given once");
    check(r#"{"name":"a\u0000b"}"#, "name: must not contain a NUL character");
    check(
        r#"{"name":3,"nodes":""#,
        "The body is not valid JSON: EOF while parsing a string at line 1 column 19",
    );
    check(r#"{"name":3,"nodes":"x"}"#, "2 fields are missing or wrong: name, nodes");
    check("[1]", "The body must be a JSON object");
    check("null", "The body must be a JSON object");
    check("\"text\"", "The body must be a JSON object");
}

#[test]
fn forms_are_coerced_but_not_guessed() {
    let check = |text: &str, expected: &str| assert_eq!(form(text), expected, "{text}");
    check("nodes=three", "nodes: must be an integer");
    check("enabled=yes", "enabled: must be true or false");
    check("name=a&name=b", "name: must be given once");
    check("name[]=a", "name: must be a single value, not a list");
    check("name=a%00b", "name: must not contain a NUL character");
    check("name=%FF", "The form is not UTF-8 text");
}

/// An object of names and values, one with fields of its own, and a text that goes on
/// as it is; or the faults.
fn read_deep(mut fields: Fields) -> serde_json::Value {
    let values = json!({
        "config": fields.map("config"),
        "options": fields.object("options", |options| options.integer("size")),
        "value": fields.contents("value"),
    });
    match fields.into_problems().finish() {
        Ok(()) => values,
        Err(error) => json!(error.to_string()),
    }
}

#[test]
fn objects_in_forms_say_the_same_as_in_json() {
    let check = |form_text: &str, text: &str| {
        let from_form = read_deep(form::parse(form_text.as_bytes(), "form").unwrap());
        let from_json = read_deep(json::parse(text.as_bytes()).unwrap());
        assert!(from_form.is_object(), "{form_text}: {from_form}");
        assert_eq!(from_form, from_json, "{form_text} {text}");
    };
    let both = r#"{"config":{"retention.ms":60000,"cleanup.policy":"compact"}}"#;
    check("config[retention.ms]=60000&config[cleanup.policy]=compact", both);
    check("config%5Bretention.ms%5D=60000&config%5Bcleanup.policy%5D=compact", both);
    check(&format!("config={}", &both[10..both.len() - 1]), both);
    check("config[a]=", r#"{"config":{"a":""}}"#);
    check("options[size]=3", r#"{"options":{"size":3}}"#);
    check("value=", r#"{"value":""}"#);
    check("", r#"{"value":null}"#);
    check("unknown[a]=1&unknown[a][b]=2", r#"{"unknown":{"a":{"b":2}}}"#);
}

#[test]
fn what_a_form_can_t_say_is_refused() {
    let garbled = "can't be read as it was sent; in a form write a list as name[]=value, an \
                   object as name[part]=value, and what goes deeper as JSON";
    let check = |text: &str, expected: &str| {
        let told = read_deep(form::parse(text.as_bytes(), "form").unwrap());
        assert_eq!(told, expected, "{text}");
    };
    for text in [
        "config[a][b]=1",
        "config[a][]=1",
        "config[a=1",
        "config[a]b=1",
        "config={}&config[a]=1",
        "config[]=1&config[a]=1",
    ] {
        check(text, &format!("config: {garbled}"));
    }
    check("config[a]=1&config[a]=2", "config: must have each name once");
    check("config[]=1", "config: must be a single value, not a list");
    check("value[a]=1", "value: must be a single value");
    check("options[size]=x", "size: must be an integer");
    assert_eq!(form("tags[0]=a"), "tags: must be a list of strings");
    assert_eq!(form("name[first]=a"), "name: must be a single value");
}

#[test]
fn faults_in_lists_say_which_of_them() {
    let text = r#"{"rules":[{"size":1},{"size":"x","parts":[{"size":1},{"size":true}]}]}"#;
    let mut fields = json::parse(text.as_bytes()).unwrap();
    fields.objects("rules", |rule| {
        rule.objects("parts", |part| part.integer("size"));
        rule.integer("size")
    });
    assert_eq!(
        fields.into_problems().finish().unwrap_err().to_string(),
        "2 fields are missing or wrong: rules[1].parts[1].size, rules[1].size"
    );
}

#[test]
fn what_is_no_json_text_is_refused_whole() {
    let broken = |bytes: &[u8]| json::parse(bytes).unwrap_err().to_string();
    assert!(broken(b"{\"name\":\"\xff\"}").starts_with("The body is not valid JSON"));
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    assert!(broken(deep.as_bytes()).contains("recursion limit"));
    assert!(broken(b"{} {}").contains("trailing characters"));
}

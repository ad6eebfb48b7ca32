//! The operator helps somebody who lost their password back in.

use serde_json::json;

use crate::support::{Server, ended, spillway};

/// What `spillway account reset` prints to each of its outputs.
fn reset(server: &Server, handle: &str, public_url: Option<&str>) -> (Option<i32>, String, String) {
    let mut command = spillway();
    command
        .args(["account", "reset", handle])
        .env("RUST_LOG", "security=info")
        .env(
            "SPILLWAY_STORE",
            format!("embedded:{}", server.data().join("store").display()),
        );
    if let Some(url) = public_url {
        command.env("SPILLWAY_PUBLIC_URL", url);
    }
    ended(&mut command)
}

#[test]
fn the_operator_s_link_leads_to_a_new_password() {
    let mut server = Server::start();
    let signed_in = server.member("ada").cookie;
    let (code, link, said) = reset(&server, "ada", None);
    assert_eq!((code, link.as_str()), (Some(1), ""), "{said}");
    assert!(said.contains("Only one process can open it"), "{said}");

    server.crash();
    let (code, _, said) = reset(&server, "nobody", None);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("There is nobody with the handle"), "{said}");
    let (code, link, said) = reset(&server, "ada", None);
    assert_eq!(code, Some(0), "{said}");
    assert!(link.starts_with("/recover?handle=ada&token="), "{link}");
    assert!(
        said.contains("SPILLWAY_PUBLIC_URL") && said.contains("recovery-link-made"),
        "{said}"
    );
    let (_, link, said) = reset(&server, "@ada", Some("https://feed.example.org"));
    let path = link.trim().strip_prefix("https://feed.example.org").unwrap();
    let (_, token) = path.split_once("token=").unwrap();
    assert!(!said.contains(token), "{said}");

    server.restart();
    let visitor = server.visitor();
    let mut ada = server.visitor();
    ada.cookie = signed_in;
    assert_eq!(ada.get("/me").status, 200);
    let form = format!("handle=ada&token={token}&new_password=battery+staple");
    let answer = visitor.submit("application/json", "/api/reset_password", &form);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(ada.get("/me").status, 401);
    let credentials = json!({"handle": "ada", "password": "battery staple"});
    assert_eq!(visitor.post("/session", &credentials).status, 200);
    assert_eq!(
        visitor
            .submit("application/json", "/api/reset_password", &form)
            .status,
        422
    );
}

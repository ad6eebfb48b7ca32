use std::collections::HashMap;
use std::fs::read_to_string;

use leptos::config::LeptosOptions;
use leptos::nonce::use_nonce;
use leptos::prelude::*;

/// Loads the browser's half, which wakes the islands, the completion of names where somebody writes, and what plain forms
/// need, for people who are signed in or have just sent one.
#[component]
pub fn Scripts(
    /// They name the files.
    options: LeptosOptions,
) -> impl IntoView {
    let LeptosOptions {
        hash_file,
        site_pkg_dir,
        output_name,
        ..
    } = options;
    let hashes = read_to_string(hash_file.as_ref()).unwrap_or_default();
    let hashes: HashMap<_, _> = hashes.lines().filter_map(|line| line.split_once(": ")).collect();
    let path = |kind| {
        let hash = hashes.get(kind).map(|hash| format!(".{hash}"));
        format!("/{site_pkg_dir}/{output_name}{}.{kind}", hash.unwrap_or_default())
    };
    let (module, code) = (path("js"), path("wasm"));
    // The islands wait until the browser is idle, but no longer than a second: some pages are never idle. A module that
    // could not be loaded, because the reader was offline, has to have another address the next time.
    let script = format!(
        "(window.requestIdleCallback||setTimeout)(async()=>{{const half=await import({module:?});\
         half.default({{module_or_path:{code:?}}})}},{{timeout:1000}});\
         let again='';\
         const complete=at=>at?.dataset?.completes\
         &&import('/completion.js'+again).catch(()=>again+='?');\
         addEventListener('focusin',on=>complete(on.target));complete(document.activeElement);\
         if(document.querySelector('[data-sign-out]')||sessionStorage.getItem('sent'))import('/forms.js')"
    );
    view! {
        <link rel="modulepreload" href=module />
        <link rel="preload" href=code r#as="fetch" r#type="application/wasm" crossorigin="" />
        <script type="module" nonce=use_nonce()>
            {script}
        </script>
    }
}

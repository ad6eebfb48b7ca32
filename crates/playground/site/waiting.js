// @ts-check
// Until the station of an address with a query is there, the page does not show how it begins. This runs before that
// is drawn.
if (location.search) document.documentElement.dataset.waiting = "";

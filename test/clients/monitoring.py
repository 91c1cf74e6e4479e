"""Alerts and errors with python-gitlab, unchanged. Usage: monitoring.py URL TOKEN_OF_AN_ADMINISTRATOR

It has no objects for these resources: its own calls for any endpoint do it.
"""

import json
import sys
import urllib.request
from urllib.parse import urlsplit

import gitlab

url, token = sys.argv[1:3]
root = gitlab.Gitlab(url, private_token=token)
project = root.projects.create({"name": "watched"})
path = f"/projects/{project.id}"


def send(address, body, headers):
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url + urlsplit(address).path, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))


tool = root.http_post(f"{path}/alert_management/http_integrations", post_data={"name": "tool", "active": True})
for number in range(5):
    send(tool["url"], {"title": f"alert {number}"}, {"Authorization": f"Bearer {tool['token']}"})
pages = [root.http_list(f"{path}/alert_management_alerts", page=page, per_page=3) for page in (1, 2)]
assert [[alert["iid"] for alert in page] for page in pages] == [[5, 4, 3], [2, 1]]
first = f"{path}/alert_management_alerts/1"
assert root.http_put(first, post_data={"status": "acknowledged"})["status"] == "acknowledged"
assert root.http_get(f"{path}/alert_management_alerts/status_counts")["open"] == 5
incident = root.http_post(f"{first}/incident")
assert project.issues.get(incident["iid"]).issue_type == "incident"
assert [issue.iid for issue in project.issues.list(issue_type="incident")] == [incident["iid"]]
try:
    root.http_put(first, post_data={"status": "odd"})
    raise AssertionError("taken")
except gitlab.GitlabHttpError as error:
    assert error.response_code == 400
print("done alerts")

root.http_put(f"{path}/error_tracking/settings", post_data={"active": True, "integrated": True})
assert root.http_get(f"{path}/error_tracking/settings")["integrated"] is True
(key,) = root.http_list(f"{path}/error_tracking/client_keys", get_all=True)
store = f"/errortracking/api/v1/projects/api/{project.id}/store/"
send(store, {"message": "it broke"}, {"X-Sentry-Auth": f"Sentry sentry_key={key['public_key']}"})
errors = []
while not errors:
    errors = root.http_list(f"{path}/error_tracking/errors", get_all=True)
assert errors[0]["message"] == "it broke"
error = f"{path}/error_tracking/errors/{errors[0]['id']}"
assert root.http_put(error, post_data={"status": "resolved"})["status"] == "resolved"
assert root.http_get(f"{error}/events/latest")["message"] == "it broke"
root.http_delete(f"{path}/error_tracking/client_keys/{key['id']}")
print("done errors")

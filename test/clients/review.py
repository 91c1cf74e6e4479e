"""A whole review with python-gitlab, unchanged. Usage: review.py URL TOKEN_OF_AN_ADMINISTRATOR"""

import sys
import time

import gitlab

url, token = sys.argv[1:3]
root = gitlab.Gitlab(url, private_token=token)


def person(name):
    user = root.users.create(
        {"email": f"{name}@example.com", "username": name, "name": name, "password": "a-long-Passw0rd"}
    )
    secret = user.personal_access_tokens.create({"name": "review", "scopes": ["api"]}).token
    return user, gitlab.Gitlab(url, private_token=secret)


def settled(request, done=lambda one: one.detailed_merge_status not in ("preparing", "checking", "unchecked", "approvals_syncing")):
    for _ in range(300):
        request = project_of_dev.mergerequests.get(request.iid)
        if done(request):
            return request
        time.sleep(0.1)
    raise AssertionError(f"still {request.detailed_merge_status}")


dev, as_dev = person("devi")
reviewer, as_reviewer = person("revi")
group = root.groups.create({"name": "Review", "path": "review"})
project = root.projects.create({"name": "code", "namespace_id": group.id, "initialize_with_readme": True})
project.members.create({"user_id": dev.id, "access_level": 40})
project.members.create({"user_id": reviewer.id, "access_level": 30})
project_of_dev = as_dev.projects.get(project.id)
project_of_reviewer = as_reviewer.projects.get(project.id)
project.approvalrules.create({"name": "one more", "approvals_required": 1, "user_ids": [reviewer.id]})

issue = project_of_dev.issues.create({"title": "It does not greet"})
project_of_dev.branches.create({"branch": "greet", "ref": "main"})
project_of_dev.commits.create(
    {
        "branch": "greet",
        "commit_message": "Greet",
        "actions": [{"action": "create", "file_path": "greet.txt", "content": "hello\nworld\n"}],
    }
)
request = project_of_dev.mergerequests.create(
    {
        "source_branch": "greet",
        "target_branch": "main",
        "title": "Greet",
        "description": f"Closes #{issue.iid}",
        "reviewer_ids": [reviewer.id],
        "remove_source_branch": True,
    }
)
request = settled(request)
assert request.detailed_merge_status == "not_approved", request.detailed_merge_status
assert [one.new_path if hasattr(one, "new_path") else one["new_path"] for one in request.changes()["changes"]] == ["greet.txt"]

refs = request.diff_refs
seen = project_of_reviewer.mergerequests.get(request.iid)
thread = seen.discussions.create(
    {
        "body": "Who is the world?",
        "position": {
            "base_sha": refs["base_sha"],
            "start_sha": refs["start_sha"],
            "head_sha": refs["head_sha"],
            "position_type": "text",
            "new_path": "greet.txt",
            "old_path": "greet.txt",
            "new_line": 2,
        },
    }
)
note = thread.attributes["notes"][0]
assert note["type"] == "DiffNote" and note["position"]["new_line"] == 2
seen.approve()
request = settled(request, lambda one: one.detailed_merge_status == "mergeable")

project_of_dev.commits.create(
    {
        "branch": "greet",
        "commit_message": "Name the world",
        "actions": [{"action": "update", "file_path": "greet.txt", "content": "hello\nearth\n"}],
    }
)
request = settled(request, lambda one: one.detailed_merge_status == "not_approved")
thread = project_of_reviewer.mergerequests.get(request.iid).discussions.get(thread.id)
thread.resolved = True
thread.save()
try:
    project_of_reviewer.mergerequests.get(request.iid).approve(sha="0" * 40)
    raise AssertionError("approved what is not there")
except gitlab.GitlabMRApprovalError as error:
    assert error.response_code == 409, error.response_code
project_of_reviewer.mergerequests.get(request.iid).approve()
request = settled(request, lambda one: one.detailed_merge_status == "mergeable")

request.merge()
request = project_of_dev.mergerequests.get(request.iid)
assert request.state == "merged" and request.merge_commit_sha
for _ in range(100):
    if project_of_dev.issues.get(issue.iid).state == "closed":
        break
    time.sleep(0.1)
assert project_of_dev.issues.get(issue.iid).state == "closed"
assert project_of_dev.files.get("greet.txt", ref="main").decode() == b"hello\nearth\n"
release = project_of_dev.releases.create({"tag_name": "v1.0", "ref": "main", "description": "Greets"})
assert project_of_dev.releases.get("v1.0").commit["id"] == request.merge_commit_sha
print("done review")

"""Drives a started server with python-gitlab, unchanged. Usage: python_gitlab.py URL TOKEN"""

import base64
import sys

import gitlab

url, token = sys.argv[1:3]
gl = gitlab.Gitlab(url, private_token=token, per_page=20)


def users():
    user = gl.users.create(
        {"email": "py@example.com", "username": "py", "name": "Py", "password": "a-long-Passw0rd"}
    )
    assert gl.users.list(username="PY")[0].id == user.id
    assert gl.users.get(user.id).name == "Py"
    assert user.block() and gl.users.get(user.id).state == "blocked"
    assert user.unblock()
    key = user.keys.create({"title": "k", "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBlDbgpuAW5cYIzAWBDXk8TxQuUxmBmQbCE4Zk7Wg7cv py"})
    assert [one.id for one in user.keys.list()] == [key.id]
    token = user.impersonationtokens.create({"name": "i", "scopes": ["api", "read_user"]})
    assert token.id in [one.id for one in user.impersonationtokens.list(state="active")]
    token.delete()
    gl.users.delete(user.id)


def groups():
    group = gl.groups.create({"name": "Snakes", "path": "snakes"})
    inner = gl.groups.create({"name": "Inner", "path": "inner", "parent_id": group.id})
    assert [one.id for one in group.subgroups.list()] == [inner.id]
    assert [one.id for one in group.descendant_groups.list()] == [inner.id]
    assert len(group.members.list()) == 1
    user = gl.users.create(
        {"email": "m@example.com", "username": "m", "name": "M", "password": "a-long-Passw0rd"}
    )
    member = group.members.create({"user_id": user.id, "access_level": 20})
    member.access_level = 30
    member.save()
    assert inner.members_all.get(user.id).access_level == 30
    member.delete()
    group.description = "changed"
    group.save()
    assert gl.groups.get("snakes").description == "changed"
    gl.users.delete(user.id)
    group.delete()


def projects():
    project = gl.projects.create({"name": "Python", "initialize_with_readme": True})
    assert gl.projects.get("root/python").id == project.id
    assert project.id in [one.id for one in gl.projects.list(owned=True, iterator=True)]
    project.description = "a snake"
    project.save()
    assert gl.projects.get(project.id).description == "a snake"
    user = gl.users.create(
        {"email": "n@example.com", "username": "n", "name": "N", "password": "a-long-Passw0rd"}
    )
    project.members.create({"user_id": user.id, "access_level": 30})
    assert user.id in [one.id for one in project.members.list()]
    project.members.delete(user.id)
    gl.users.delete(user.id)
    project.star()
    assert gl.projects.get(project.id).star_count == 1
    project.unstar()
    assert isinstance(project.languages(), dict)
    files(project)
    commits(project)
    repository(project)
    talk(project)
    tokens(project)
    project.delete()


def files(project):
    project.files.create(
        {"file_path": "a/b c.txt", "branch": "main", "content": "one\n", "commit_message": "Add"}
    )
    made = project.files.get("a/b c.txt", ref="main")
    assert made.decode() == b"one\n"
    made.content = "two\n"
    made.save(branch="main", commit_message="Change")
    assert project.files.get("a/b c.txt", ref="main").decode() == b"two\n"
    assert project.files.raw("a/b c.txt", ref="main") == b"two\n"
    assert project.files.blame("a/b c.txt", "main")[0]["lines"] == ["two"]
    project.branches.create({"branch": "my.branch.name", "ref": "main"})
    assert "my.branch.name" in [one.name for one in project.branches.list()]
    project.branches.delete("my.branch.name")
    assert "a/b c.txt" in [one["path"] for one in project.repository_tree(recursive=True)]
    assert project.repository_archive(format="zip")[:2] == b"PK"
    project.tags.create({"tag_name": "v1.0", "ref": "main", "message": "first"})
    assert project.tags.get("v1.0").message == "first"
    project.files.delete("a/b c.txt", branch="main", commit_message="Remove")


def commits(project):
    commit = project.commits.create(
        {
            "branch": "topic",
            "start_branch": "main",
            "commit_message": "Two files",
            "actions": [
                {"action": "create", "file_path": "x.txt", "content": "x\n"},
                {"action": "create", "file_path": "y.txt", "content": "eQo=", "encoding": "base64"},
            ],
        }
    )
    assert len(commit.diff()) == 2
    assert commit.id in [one.id for one in project.commits.list(ref_name="topic")]
    assert commit.id not in [one.id for one in project.commits.list()]
    assert commit.id in [one.id for one in project.commits.list(query_parameters={"all": True})]
    assert {"type": "branch", "name": "topic"} in commit.refs()
    compared = project.repository_compare("main", "topic")
    assert [one["title"] for one in compared["commits"]] == ["Two files"]
    commit.cherry_pick(branch="main")
    try:
        commit.cherry_pick(branch="main")
        raise AssertionError("picked twice")
    except gitlab.GitlabCherryPickError:
        pass
    commit.statuses.create({"state": "success", "sha": commit.id})
    commit.comments.create({"note": "nice"})
    assert commit.comments.list()[0].note == "nice"
    assert project.repository_merge_base(["main", "topic"])["id"]


def repository(project):
    """What python-gitlab's own functional tests do with a repository."""
    content = base64.b64encode(b"Initial content").decode()
    new_file = {"file_path": "README.rst", "branch": "main", "content": content}
    project.files.create({**new_file, "encoding": "base64", "commit_message": "Initial commit"})
    readme = project.files.get(file_path="README.rst", ref="main")
    readme.content = base64.b64encode(b"Improved README").decode()
    readme.save(branch="main", commit_message="new commit", encoding="base64")
    assert project.files.get(file_path="README.rst", ref="main").decode() == b"Improved README"
    path = f"/projects/{project.id}/repository/files/README%2Erst"
    headers = gl.http_head(path, ref="main")
    assert headers["x-gitlab-file-path"] == "README.rst"
    assert headers["content-type"] == "application/json"
    tree = {one["path"]: one for one in project.repository_tree(get_all=True)}
    blob = tree["README.rst"]["id"]
    assert project.repository_raw_blob(blob) == b"Improved README"
    assert base64.b64decode(project.repository_blob(blob)["content"]) == b"Improved README"
    for form in ("tbz", "tbz2", "tb2", "bz2", "tar", "tar.gz", "tar.bz2", "zip"):
        archive = project.repository_archive(format=form)
        assert archive == project.repository_archive("main", format=form)
        assert len(archive) > 100
    streamed = []
    project.repository_archive(streamed=True, action=streamed.append)
    assert b"".join(streamed) == project.repository_archive()
    commit = project.commits.create(
        {
            "branch": "revertible",
            "start_branch": "main",
            "commit_message": "To be reverted",
            "actions": [{"action": "create", "file_path": "r.txt", "content": "r"}],
        }
    )
    assert commit.parent_ids and commit.stats["total"] == 1
    reverted = commit.revert(branch="revertible")
    assert reverted["message"] == f'Revert "To be reverted"\n\nThis reverts commit {commit.id}'
    try:
        commit.revert(branch="revertible")
        raise AssertionError("reverted twice")
    except gitlab.GitlabRevertError:
        pass
    try:
        commit.signature()
        raise AssertionError("not signed")
    except gitlab.GitlabGetError as error:
        assert error.error_message == "404 Signature Not Found"
    assert [one["email"] for one in project.repository_contributors()]
    assert commit.diff() and commit.refs("branch")
    branch = project.branches.get("revertible")
    assert branch.commit["id"] == reverted["id"] and not branch.protected
    project.tags.create({"tag_name": "v2.0.0", "ref": "revertible"})
    assert project.tags.list(search="^v2")[0].name == "v2.0.0"
    project.tags.delete("v2.0.0")
    project.delete_merged_branches()


def talk(project):
    project.labels.create({"name": "bug: a", "color": "#ff0000"})
    label = project.labels.get("bug: a")
    label.new_name = "bug: b"
    label.save()
    milestone = project.milestones.create({"title": "m"})
    issue = project.issues.create({"title": "i", "labels": ["bug: b"], "milestone_id": milestone.id})
    assert issue.resourcelabelevents.list() and issue.resourcemilestoneevents.list()
    note = issue.notes.create({"body": "hello"})
    note.awardemojis.create({"name": "tractor"})
    discussion = issue.discussions.create({"body": "thread"})
    discussion.notes.create({"body": "reply"})
    assert len(issue.discussions.get(discussion.id).attributes["notes"]) == 2
    issue.state_event = "close"
    issue.save()
    assert project.issues.list(state="closed")[0].iid == issue.iid
    badge = project.badges.create({"link_url": "http://a", "image_url": "http://b/%{project_id}"})
    assert badge.rendered_image_url == f"http://b/{project.id}"
    badge.delete()


def tokens(project):
    made = project.access_tokens.create({"name": "t", "scopes": ["api"]})
    assert made.token
    made.delete()
    deploy = project.deploytokens.create({"name": "d", "scopes": ["read_repository"]})
    assert deploy.token and deploy.username
    deploy.delete()


def refusals():
    try:
        gitlab.Gitlab(url, private_token="wrong").auth()
        raise AssertionError("a wrong token was let in")
    except gitlab.GitlabAuthenticationError as error:
        assert error.response_code == 401
    assert gl.http_head("/projects")["x-total"]


gl.auth()
assert gl.user.username == "root"
version, _ = gl.version()
assert len(version.split(".")) == 3
for step in (users, groups, projects, refusals):
    step()
    print("done", step.__name__)

"""Administers a started server with python-gitlab, unchanged. Usage: administration.py URL TOKEN"""

import sys
import time

import gitlab

url, token = sys.argv[1:3]
gl = gitlab.Gitlab(url, private_token=token)

SSH_KEY = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBlDbgpuAW5cYIzAWBDXk8TxQuUxmBmQbCE4Zk7Wg7cv admin"
)


def new_user(name):
    return gl.users.create(
        {
            "email": f"{name}@example.net",
            "username": name,
            "name": name.title(),
            "password": "a-long-Passw0rd",
            "skip_confirmation": True,
        }
    )


def people():
    gl.auth()
    assert gl.user.id == 1 and gl.user.username == "root"
    user = new_user("pat")
    user.name = "Patricia"
    user.bio = "writes"
    user.save()
    assert gl.users.get(user.id).bio == "writes"
    for act in ("block", "unblock", "ban", "unban", "deactivate", "activate"):
        assert getattr(user, act)() is not False, act
    other = new_user("quentin")
    user.follow()
    assert [one.id for one in user.followers_users.list()] == [gl.user.id]
    user.unfollow()
    mail = user.emails.create({"email": "pat2@example.net", "skip_confirmation": True})
    assert [one.email for one in user.emails.list()] == ["pat2@example.net"]
    mail.delete()
    status = gl.user.status.get()
    status.message = "busy with tests"
    status.emoji = "snake"
    status.save()
    assert gl.user.status.get().message == "busy with tests"
    assert user.status.get().message is None
    own = gl.user.emails.create({"email": "root2@example.net"})
    gl.user.emails.delete(own.id)
    attribute = user.customattributes.set("team", "red")
    assert attribute.value == "red"
    assert user.id in [one.id for one in gl.users.list(custom_attributes={"team": "red"})]
    assert user.memberships.list() == []
    user.delete()
    other.delete()
    time.sleep(0.2)
    assert "pat" not in [one.username for one in gl.users.list(get_all=True)]
    try:
        gl.users.get(user.id)
        raise AssertionError("a deleted user is still there")
    except gitlab.exceptions.GitlabGetError as error:
        assert error.response_code == 404 and "404 User Not Found" in str(error)
    try:
        gl.users.create({"email": "r@example.net", "username": "root", "name": "R", "password": "a-long-Passw0rd"})
        raise AssertionError("a name was given twice")
    except gitlab.exceptions.GitlabCreateError as error:
        assert error.response_code == 409


def keys():
    key = gl.user.keys.create({"title": "k", "key": SSH_KEY})
    assert [one.id for one in gl.user.keys.list()] == [key.id]
    assert gl.keys.get(key.id).user["username"] == "root"
    fingerprint = "SHA256:" + sha256_of(SSH_KEY)
    assert gl.keys.get(fingerprint=fingerprint).id == key.id
    key.delete()
    project = gl.projects.create({"name": "Keys"})
    deploy = project.keys.create({"title": "d", "key": SSH_KEY})
    deploy.can_push = True
    deploy.save()
    assert project.keys.get(deploy.id).can_push is True
    second = gl.projects.create({"name": "Keys 2"})
    second.keys.enable(deploy.id)
    assert [one.id for one in second.keys.list()] == [deploy.id]
    assert deploy.id in [one.id for one in gl.deploykeys.list()]
    second.keys.delete(deploy.id)
    deploy.delete()
    project.delete()
    second.delete()


def sha256_of(line):
    import base64
    import hashlib

    digest = hashlib.sha256(base64.b64decode(line.split()[1])).digest()
    return base64.b64encode(digest).decode().rstrip("=")


def tokens():
    user = new_user("tom")
    made = user.personal_access_tokens.create({"name": "t", "scopes": ["api"]})
    own = gitlab.Gitlab(url, private_token=made.token)
    own.auth()
    assert own.user.id == user.id
    assert own.http_get("/personal_access_tokens/self")["id"] == made.id
    assert [one.id for one in gl.personal_access_tokens.list(user_id=user.id)] == [made.id]
    gl.personal_access_tokens.delete(made.id)
    try:
        own.auth()
        raise AssertionError("a revoked token works")
    except gitlab.exceptions.GitlabAuthenticationError:
        pass
    group = gl.groups.create({"name": "Tokens", "path": "tokens"})
    project = gl.projects.create({"name": "Tokens", "namespace_id": group.id})
    for place in (group, project):
        token = place.access_tokens.create({"name": "bot", "scopes": ["api"], "expires_at": "2026-05-04"})
        assert token.expires_at == "2026-05-04"
        assert [one.id for one in place.access_tokens.list()] == [token.id]
        token.delete()
        deploy = place.deploytokens.create(
            {"name": "d", "scopes": ["read_repository"], "expires_at": "2027-09-09", "username": "bar"}
        )
        assert deploy.expires_at == "2027-09-09T00:00:00.000Z" and deploy.username == "bar"
        assert deploy.id in [one.id for one in gl.deploytokens.list()]
        assert place.deploytokens.get(deploy.id).name == "d"
        deploy.delete()
        assert place.deploytokens.list() == []
    project.delete()
    group.delete()
    user.delete()


def instance():
    settings = gl.settings.get()
    settings.default_projects_limit = 42
    settings.save()
    assert gl.settings.get().default_projects_limit == 42
    assert settings.asset_proxy_allowlist == []
    settings.asset_proxy_allowlist = ["example.com", "*.example.com"]
    settings.save()
    assert gl.settings.get().asset_proxy_allowlist == ["example.com", "*.example.com"]
    settings.default_projects_limit = 100000
    settings.save()
    statistics = gl.statistics.get() if hasattr(gl, "statistics") else None
    assert statistics is None or int(statistics.users.replace(",", "")) >= 1
    counts = gl.application_statistics.get() if hasattr(gl, "application_statistics") else None
    assert counts is None or int(counts.users.replace(",", "")) >= 1
    appearance = gl.appearance.get()
    appearance.title = "Test"
    appearance.save()
    assert gl.appearance.get().title == "Test"
    feature = gl.features.set("my_new_feature", 30)
    assert feature.name == "my_new_feature" and len(gl.features.list()) == 1
    feature.delete()
    message = gl.broadcastmessages.create({"message": "this is the message"})
    message.color = "#444444"
    message.save()
    assert gl.broadcastmessages.get(message.id).message == "this is the message"
    message.delete()
    assert gl.broadcastmessages.list() == []
    level = gl.notificationsettings.get()
    level.level = gitlab.const.NOTIFICATION_LEVEL_WATCH
    level.save()
    assert gl.notificationsettings.get().level == "watch"
    for metrics in (
        gl.sidekiq.queue_metrics,
        gl.sidekiq.process_metrics,
        gl.sidekiq.job_stats,
        gl.sidekiq.compound_metrics,
    ):
        assert isinstance(metrics(), dict)
    application = gl.applications.create(
        {"name": "App", "redirect_uri": "http://localhost:8080", "scopes": "api"}
    )
    assert application.secret
    assert application.id in [one.id for one in gl.applications.list()]
    gl.applications.delete(application.id)
    topic = gl.topics.create({"name": "my-topic", "title": "My Topic"})
    topic.description = "My Updated Topic"
    topic.save()
    assert gl.topics.get(topic.id).description == "My Updated Topic"
    topic.delete()
    assert gl.audit_events.list(get_all=False)
    assert gl.version()[0].count(".") == 2


def access():
    user = new_user("ada")
    made = user.personal_access_tokens.create({"name": "t", "scopes": ["api"]})
    own = gitlab.Gitlab(url, private_token=made.token)
    group = gl.groups.create({"name": "Wanted", "path": "wanted", "visibility": "public"})
    project = gl.projects.create(
        {"name": "Wanted", "namespace_id": group.id, "visibility": "public"}
    )
    for place, wanted in (
        (project, own.projects.get(project.id)),
        (group, own.groups.get(group.id)),
    ):
        wanted.accessrequests.create({})
        assert [one.id for one in place.accessrequests.list()] == [user.id]
        place.accessrequests.delete(user.id)
        request = wanted.accessrequests.create({})
        assert request.username == "ada"
        place.accessrequests.list()[0].approve(access_level=gitlab.const.DEVELOPER_ACCESS)
        assert place.members.get(user.id).access_level == 30
        settings = wanted.notificationsettings.get()
        assert settings.level == "global"
        settings.level = "mention"
        settings.save()
        assert wanted.notificationsettings.get().level == "mention"
        place.members.delete(user.id)
    found = gl.namespaces.list(search="ada")
    assert [one.kind for one in found] == ["user"]
    assert gl.namespaces.get(found[0].id).path == "ada"
    assert gl.namespaces.exists("ada").exists
    assert not gl.namespaces.exists("nobody-has-this").exists
    bot = gl.http_post("/service_accounts", post_data={"name": "Robot"})
    assert bot["username"].startswith("service_account_")
    robot = gl.http_post(f"/groups/{group.id}/service_accounts", post_data={"username": "r2"})
    path = f"/groups/{group.id}/service_accounts/{robot['id']}/personal_access_tokens"
    token = gl.http_post(path, post_data={"name": "beep", "scopes": ["api"]})
    machine = gitlab.Gitlab(url, private_token=token["token"])
    machine.auth()
    assert machine.user.username == "r2"
    rotated = gl.http_post(f"{path}/{token['id']}/rotate")
    assert rotated["token"] != token["token"]
    gl.http_delete(f"/groups/{group.id}/service_accounts/{robot['id']}")
    project.delete()
    group.delete()
    user.delete()


for part in (people, keys, tokens, access, instance):
    part()
    print("done", part.__name__)

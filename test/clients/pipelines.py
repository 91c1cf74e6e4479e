"""Pipelines and what belongs to them with python-gitlab, unchanged. Usage: pipelines.py URL TOKEN_OF_AN_ADMINISTRATOR"""

import sys

import gitlab

url, token = sys.argv[1:3]
root = gitlab.Gitlab(url, private_token=token)
group = root.groups.create({"name": "Pipes", "path": "pipes"})
project = root.projects.create({"name": "lines", "namespace_id": group.id, "initialize_with_readme": True})
config = "test:\n  script: [make test]\nship:\n  stage: deploy\n  script: [make ship]\n  when: manual\n"
project.files.create(
    {"file_path": ".svc-ci.yml", "branch": "main", "content": config, "commit_message": "Add [skip ci]"}
)

for place in (group, project):
    place.variables.create({"key": "ONE", "value": "1"})
    variable = place.variables.get("ONE")
    variable.value = "2"
    variable.save()
    assert place.variables.get("ONE").value == "2"
    hidden = place.variables.create({"key": "HIDDEN", "value": "top-secret-1", "masked_and_hidden": True})
    assert hidden.value is None
    variable.delete()
project.variables.create({"key": "URL", "value": "a", "environment_scope": "production"})
project.variables.create({"key": "URL", "value": "b", "environment_scope": "review/*"})
assert project.variables.get("URL", filter={"environment_scope": "review/*"}).value == "b"
root.variables.create({"key": "EVERYWHERE", "value": "yes"})
root.variables.delete("EVERYWHERE")
print("done variables")

lint = project.ci_lint.create({"content": "x: {script: y, nonsense: 1}"})
assert not lint.valid and "nonsense" in lint.errors[0]
assert project.ci_lint.get().valid
pipeline = project.pipelines.create({"ref": "main", "variables": [{"key": "A", "value": "b"}]})
names = [job.name for job in pipeline.jobs.list(get_all=True)]
assert sorted(names) == ["ship", "test"], names
assert pipeline.variables.list()[0].key == "A"
pipeline.cancel()
job = project.jobs.get(pipeline.jobs.list(get_all=True)[-1].id)
assert job.status == "canceled"
job.retry()
print("done pipelines")

trigger = project.triggers.create({"description": "from outside"})
started = project.trigger_pipeline("main", trigger.token, variables={"B": "c"})
assert started.source == "trigger"
trigger.description = "renamed"
trigger.save()
trigger.delete()
schedule = project.pipelineschedules.create({"description": "nightly", "ref": "main", "cron": "0 3 * * *"})
schedule.variables.create({"key": "NIGHT", "value": "1"})
schedule = project.pipelineschedules.get(schedule.id)
assert schedule.attributes["variables"][0]["key"] == "NIGHT"
schedule.cron = "0 4 * * *"
schedule.save()
schedule.take_ownership()
schedule.variables.delete("NIGHT")
schedule.play()
project.pipelineschedules.delete(project.pipelineschedules.list(get_all=True)[0].id)
print("done starts")

environment = project.environments.create({"name": "live", "external_url": "https://live.example.com"})
sha = project.commits.list(get_all=False)[0].id
deployment = project.deployments.create(
    {"environment": "live", "sha": sha, "ref": "main", "tag": False, "status": "running"}
)
deployment.status = "success"
deployment.save()
assert project.environments.get(environment.id).last_deployment["id"] == deployment.id
assert len(deployment.mergerequests.list(get_all=True)) == 0
environment.stop()
environment.delete()
print("done environments")

other = root.projects.create({"name": "other", "namespace_id": group.id})
made = root.http_post(
    "/user/runners", post_data={"runner_type": "project_type", "project_id": project.id, "tag_list": ["a"]}
)
other.runners.create({"runner_id": made["id"]})
other.runners.delete(made["id"])
runner = root.runners.get(made["id"])
assert runner.tag_list == ["a"]
assert runner.jobs.list(get_all=True) == []
assert made["id"] in [one.id for one in project.runners.list(get_all=True)]
group.runners.list(get_all=True)
runner.delete()
print("done runners")

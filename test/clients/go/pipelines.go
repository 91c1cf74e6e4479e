package main

import (
	"fmt"
	"io"

	gitlab "gitlab.com/gitlab-org/api/client-go"
)

const config = `
build: {stage: build, script: make}
ship: {stage: deploy, needs: [], script: ship, when: manual}
`

func expect(isTrue bool, what string, seen interface{}) {
	if !isTrue {
		must(fmt.Errorf("%s: %v", what, seen))
	}
}

// Pipelines, jobs, runners, variables, schedules and triggers of a project.
func pipelines(client *gitlab.Client, project int) {
	_, _, err := client.RepositoryFiles.CreateFile(project, ".gitlab-ci.yml", &gitlab.CreateFileOptions{
		Branch:        gitlab.Ptr("main"),
		Content:       gitlab.Ptr(config),
		CommitMessage: gitlab.Ptr("Configure [skip ci]"),
	})
	must(err)
	lint, _, err := client.Validate.ProjectNamespaceLint(project, &gitlab.ProjectNamespaceLintOptions{
		Content: gitlab.Ptr(config),
		DryRun:  gitlab.Ptr(true),
	})
	must(err)
	expect(lint.Valid, "lint", lint.Errors)
	_, _, err = client.ProjectVariables.CreateVariable(project, &gitlab.CreateProjectVariableOptions{
		Key:    gitlab.Ptr("SECRET"),
		Value:  gitlab.Ptr("long-enough-value"),
		Masked: gitlab.Ptr(true),
	})
	must(err)
	runner, _, err := client.Users.CreateUserRunner(&gitlab.CreateUserRunnerOptions{
		RunnerType: gitlab.Ptr("project_type"),
		ProjectID:  gitlab.Ptr(project),
	})
	must(err)
	expect(runner.Token != "", "token of a runner", runner)
	pipeline, _, err := client.Pipelines.CreatePipeline(project, &gitlab.CreatePipelineOptions{
		Ref: gitlab.Ptr("main"),
		Variables: &[]*gitlab.PipelineVariableOptions{
			{Key: gitlab.Ptr("A"), Value: gitlab.Ptr("b")},
		},
	})
	must(err)
	variables, _, err := client.Pipelines.GetPipelineVariables(project, pipeline.ID)
	must(err)
	expect(len(variables) == 1 && variables[0].Value == "b", "variables", variables)
	changeJobs(client, project, pipeline.ID)
	pipeline, _, err = client.Pipelines.CancelPipelineBuild(project, pipeline.ID)
	must(err)
	expect(pipeline.Status == "canceled", "status", pipeline.Status)
	schedule, _, err := client.PipelineSchedules.CreatePipelineSchedule(project, &gitlab.CreatePipelineScheduleOptions{
		Description: gitlab.Ptr("nightly"),
		Ref:         gitlab.Ptr("main"),
		Cron:        gitlab.Ptr("0 1 * * *"),
	})
	must(err)
	expect(schedule.NextRunAt != nil, "next run", schedule)
	trigger, _, err := client.PipelineTriggers.AddPipelineTrigger(project, &gitlab.AddPipelineTriggerOptions{
		Description: gitlab.Ptr("from go"),
	})
	must(err)
	triggered, _, err := client.PipelineTriggers.RunPipelineTrigger(project, &gitlab.RunPipelineTriggerOptions{
		Ref:       gitlab.Ptr("main"),
		Token:     gitlab.Ptr(trigger.Token),
		Variables: map[string]string{"B": "c"},
	})
	must(err)
	list, _, err := client.Pipelines.ListProjectPipelines(project, &gitlab.ListProjectPipelinesOptions{
		Ref: gitlab.Ptr("main"),
	})
	must(err)
	expect(len(list) >= 2 && list[0].ID == triggered.ID, "pipelines", list)
	_, err = client.Pipelines.DeletePipeline(project, triggered.ID)
	must(err)
}

func changeJobs(client *gitlab.Client, project int, pipeline int) {
	jobs, _, err := client.Jobs.ListPipelineJobs(project, pipeline, &gitlab.ListJobsOptions{})
	must(err)
	expect(len(jobs) == 2 && jobs[0].Name == "ship" && jobs[0].Status == "manual", "jobs", jobs)
	played, _, err := client.Jobs.PlayJob(project, jobs[0].ID, &gitlab.PlayJobOptions{})
	must(err)
	expect(played.Status == "pending", "played", played.Status)
	canceled, _, err := client.Jobs.CancelJob(project, jobs[1].ID)
	must(err)
	expect(canceled.Status == "canceled", "canceled", canceled.Status)
	again, _, err := client.Jobs.RetryJob(project, jobs[1].ID)
	must(err)
	expect(again.Status == "pending" && again.ID != jobs[1].ID, "retried", again.Status)
	log, _, err := client.Jobs.GetTraceFile(project, again.ID)
	must(err)
	text, err := io.ReadAll(log)
	must(err)
	expect(len(text) == 0, "log", string(text))
}

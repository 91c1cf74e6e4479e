// Uses the Go client, unchanged, as Terraform and command-line programs do: what it leaves out of a body it sends as null.
package main

import (
	"fmt"
	"os"

	gitlab "gitlab.com/gitlab-org/api/client-go"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	client, err := gitlab.NewClient(os.Args[2], gitlab.WithBaseURL(os.Args[1]))
	must(err)
	group, _, err := client.Groups.CreateGroup(&gitlab.CreateGroupOptions{
		Name: gitlab.Ptr("From Go"),
		Path: gitlab.Ptr("from-go"),
	})
	must(err)
	_, _, err = client.Groups.UpdateGroup(group.ID, &gitlab.UpdateGroupOptions{
		Description: gitlab.Ptr("made by a client"),
	})
	must(err)
	project, _, err := client.Projects.CreateProject(&gitlab.CreateProjectOptions{
		Name:                 gitlab.Ptr("demo"),
		NamespaceID:          gitlab.Ptr(group.ID),
		InitializeWithReadme: gitlab.Ptr(true),
	})
	must(err)
	_, _, err = client.RepositoryFiles.CreateFile(project.ID, "a.txt", &gitlab.CreateFileOptions{
		Branch:        gitlab.Ptr("main"),
		Content:       gitlab.Ptr("text"),
		CommitMessage: gitlab.Ptr("Add a file"),
	})
	must(err)
	pipelines(client, project.ID)
	issue, _, err := client.Issues.CreateIssue(project.ID, &gitlab.CreateIssueOptions{
		Title: gitlab.Ptr("From Go"),
	})
	must(err)
	planning(client, project.ID)
	_, _, err = client.Issues.UpdateIssue(project.ID, issue.IID, &gitlab.UpdateIssueOptions{
		StateEvent: gitlab.Ptr("close"),
	})
	must(err)
	_, err = client.Groups.DeleteGroup(group.ID, nil)
	must(err)
	fmt.Println("done", group.FullPath)
}

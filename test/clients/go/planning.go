package main

import (
	gitlab "gitlab.com/gitlab-org/api/client-go"
)

// What the client sends in words of its own: the path of a search, empty hashes and ids of what is not there yet.
func planning(client *gitlab.Client, project int) {
	found, _, err := client.Search.IssuesByProject(project, "From Go", &gitlab.SearchOptions{})
	must(err)
	expect(len(found) == 1, "search", found)
	_, err = client.ProjectImportExport.ScheduleExport(project, &gitlab.ScheduleExportOptions{})
	must(err)
	flag, _, err := client.ProjectFeatureFlags.CreateProjectFeatureFlag(project, &gitlab.CreateProjectFeatureFlagOptions{
		Name:    gitlab.Ptr("from-go"),
		Version: gitlab.Ptr("new_version_flag"),
		Strategies: &[]*gitlab.FeatureFlagStrategyOptions{{
			Name:       gitlab.Ptr("default"),
			Parameters: &gitlab.ProjectFeatureFlagStrategyParameter{},
			Scopes:     &[]*gitlab.ProjectFeatureFlagScope{{EnvironmentScope: "production"}},
		}},
	})
	must(err)
	expect(flag.Strategies[0].Scopes[0].ID > 0, "scopes", flag.Strategies)
}

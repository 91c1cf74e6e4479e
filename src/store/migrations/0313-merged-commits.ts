import type { Migration } from '../migration.ts'

/** Merge requests are found by the commits that merging made: each deployment asks. */
export const mergedCommits: Migration = {
  name: '0313-merged-commits',
  sql: `
CREATE INDEX merge_requests_by_merge_commit ON merge_requests (merge_commit_sha) WHERE merge_commit_sha IS NOT NULL;
CREATE INDEX merge_requests_by_squash_commit ON merge_requests (squash_commit_sha) WHERE squash_commit_sha IS NOT NULL;
CREATE INDEX merge_requests_by_merged_commit ON merge_requests (merged_sha) WHERE merged_sha IS NOT NULL;
`,
}

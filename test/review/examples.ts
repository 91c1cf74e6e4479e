import { done, examples, owner, type Spot } from '../contract/example.ts'

const people = { name: 'named', approvals_required: 1 }
const setting = { body: { allow_author_approval: true } }

function request({ place }: Spot): string {
  return `/projects/${place.project.id}/merge_requests/${place.project.merge_request_iid}`
}

async function blocked(spot: Spot) {
  const made = await done(owner(spot), 'POST', `${request(spot)}/blocks`, {
    blocking_merge_request_id: spot.place.project.other_merge_request_id,
  })
  return { block_id: String(made.id) }
}

export const reviewExamples = examples({
  'POST P/merge_requests': {
    body: { title: 'new', source_branch: 'spare', target_branch: 'main' },
  },
  'PUT P/MR': { body: { title: 'changed' } },
  'POST P/MR/add_spent_time': { body: { duration: '1h' } },
  'POST P/MR/time_estimate': { body: { duration: '1h' } },
  'POST P/approval_rules': { body: people },
  'PUT P/approval_rules/:approval_rule_id': { body: people },
  'POST P/MR/approval_rules': { body: people },
  'PUT P/MR/approval_rules/:approval_rule_id': { body: people },
  'POST P/approvals': { body: { reset_approvals_on_push: true } },
  'PUT P/merge_request_approval_setting': setting,
  'PUT G/merge_request_approval_setting': setting,
  'POST P/MR/approve': { by: 'maintainer' },
  'POST P/MR/unapprove': {
    by: 'maintainer',
    async prepare(spot) {
      for (const caller of spot.stage.callers.values())
        if (caller.token) await caller.post(`${request(spot)}/approve`)
      return undefined
    },
  },
  'PUT P/MR/reset_approvals': {
    elsewhere: 'bots alone may call it: test/review/approvals',
  },
  'POST P/MR/cancel_merge_when_pipeline_succeeds': {
    elsewhere: 'needs a merge request that waits: test/review/merge-requests',
  },
  'POST P/MR/pipelines': { elsewhere: 'needs a CI configuration: test/review/merge-requests' },
  'GET P/MR/versions/:version_id': {
    async prepare(spot) {
      const [version] = await done(owner(spot), 'GET', `${request(spot)}/versions`)
      return { version_id: String(version.id) }
    },
  },
  'GET P/MR/changed_files/diff': { query: { 'paths[]': 'spare.txt' } },
  'GET P/MR/range_diff': {
    elsewhere: 'takes its versions from the query: test/review/merge-requests/changed-files',
  },
  'PUT P/MR/conflicts': { elsewhere: 'needs conflicts: test/review/merge-requests/conflicts' },
  'PUT P/MR/viewed_files': {
    elsewhere: 'needs a changed file: test/review/merge-requests/changed-files',
  },
  'DELETE P/MR/viewed_files': {
    elsewhere: 'takes its file from the query: test/review/merge-requests/changed-files',
  },
  'PUT /suggestions/:suggestion_id/apply': { elsewhere: 'test/review/suggestions' },
  'PUT /suggestions/batch_apply': { elsewhere: 'test/review/suggestions' },
  'DELETE P/MR/blocks': { elsewhere: 'takes its block from the query: test/review/merge-requests' },
  'DELETE P/MR/dependencies': {
    elsewhere: 'takes its block from the query: test/review/merge-requests',
  },
  ...Object.fromEntries(
    [
      ['label', 'merge_request_iid'],
      ['milestone', 'merge_request_iid'],
      ['state', 'other_merge_request_iid'],
    ].map(([kind, iid = '']) => [
      `GET P/MR/resource_${kind}_events/:event_id`,
      {
        path: ({ place }: Spot) => ({
          merge_request_iid: place.project[iid] ?? '',
          event_id: place.project[`request_${kind}_event_id`] ?? '',
        }),
      },
    ]),
  ),
  'POST P/MR/blocks': {
    body: ({ place }) => ({ blocking_merge_request_id: place.project.other_merge_request_id }),
  },
  'POST P/MR/dependencies': {
    body: ({ place }) => ({ blocking_merge_request_id: place.project.other_merge_request_id }),
  },
  'DELETE P/MR/blocks/:block_id': { prepare: blocked },
  'DELETE P/MR/dependencies/:block_id': { prepare: blocked },
  'POST P/MR/context_commits': {
    body: ({ place }) => ({ commits: [place.project.first_sha] }),
  },
  'DELETE P/MR/context_commits': {
    query: ({ place }) => ({ 'commits[]': place.project.first_sha ?? '' }),
    async prepare(spot) {
      await done(owner(spot), 'POST', `${request(spot)}/context_commits`, {
        commits: [spot.place.project.first_sha],
      })
      return undefined
    },
  },
  'POST P/MR/draft_notes': { body: { note: 'draft' } },
  'PUT P/MR/draft_notes/:draft_note_id': { body: { note: 'changed' } },
})

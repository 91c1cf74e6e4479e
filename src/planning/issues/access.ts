import { userOf } from '../../access/actor.ts'
import { projectRecord } from '../../access/records.ts'
import { integer } from '../../http/params.ts'
import { getIssue } from './find.ts'

/** The issue of `:issue_iid`, if the caller may see it. */
export const onIssue = projectRecord('read_issues', {
  params: { issue_iid: integer() },
  find: async ({ ctx, project, params }) => ({
    issue: await getIssue(ctx, project, params.issue_iid),
  }),
  conditions: ({ ctx, issue }) => ({
    author: issue.author_id !== null && issue.author_id === userOf(ctx.actor)?.id,
    confidential: issue.confidential === 1,
  }),
})

import { endpointsOf, type Manifest } from '../manifest.ts'
import { unassignMember } from './assignees/tasks.ts'
import * as boards from './boards/endpoints.ts'
import * as issuesSide from './issues/action-endpoints.ts'
import * as issues from './issues/endpoints.ts'
import * as issuesLink from './issues/links/endpoints.ts'
import * as issuesMilestone from './issues/list/milestone-endpoints.ts'
import * as labels from './labels/endpoints.ts'
import * as milestones from './milestones/endpoints.ts'

export const planningArea: Manifest = {
  name: 'planning',
  endpoints: endpointsOf({
    boards,
    issues: [issues, issuesLink, issuesSide],
    labels,
    milestones: [milestones, issuesMilestone],
  }),
  tasks: [unassignMember],
  schedules: [],
  migrations: [],
}

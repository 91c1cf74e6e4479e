import type { Endpoint } from '../http/endpoint.ts'
import * as badges from './badges/endpoints.ts'
import * as branches from './branches/endpoints.ts'
import * as commitStatuses from './commit-statuses/endpoints.ts'
import * as commits from './commits/endpoints.ts'
import * as files from './files/endpoints.ts'
import * as groups from './groups/endpoints.ts'
import * as groupsProject from './groups/project-endpoints.ts'
import * as labels from './labels/endpoints.ts'
import * as milestones from './milestones/endpoints.ts'
import * as projects from './projects/endpoints.ts'
import * as repository from './repository/endpoints.ts'
import * as tags from './tags/endpoints.ts'
import * as currentUser from './users/current-endpoints.ts'
import * as userEmails from './users/email-endpoints.ts'
import * as users from './users/endpoints.ts'
import * as people from './users/people-endpoints.ts'
import * as userStates from './users/state-endpoints.ts'
import * as userStatus from './users/status-endpoints.ts'
import * as version from './version/endpoints.ts'

/** The one list of resources: each one's exported endpoints. */
const resources: readonly Readonly<Record<string, unknown>>[] = [
  badges,
  groups,
  groupsProject,
  labels,
  milestones,
  projects,
  repository,
  users,
  currentUser,
  userEmails,
  people,
  userStates,
  userStatus,
  version,
  branches,
  commitStatuses,
  commits,
  files,
  tags,
]

/** Every endpoint of the REST API. */
export const apiEndpoints: readonly Endpoint[] = resources.flatMap((resource) =>
  Object.values(resource).flat().filter(isEndpoint),
)

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'handler' in value && 'path' in value
}

import { discussionEndpoints } from '../notes/discussion-routes.ts'
import { commitKind } from './commit-kind.ts'

export const commitDiscussions = discussionEndpoints(commitKind)

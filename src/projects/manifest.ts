import { daily } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { membersByProviders } from '../store/migrations/0380-members-by-providers.ts'
import * as accessTokensAssociations from './access-tokens/associations-endpoints.ts'
import * as accessTokensSource from './access-tokens/source-endpoints.ts'
import * as avatars from './avatars/endpoints.ts'
import * as badges from './badges/endpoints.ts'
import * as deployTokens from './deploy-tokens/endpoints.ts'
import * as groupsChange from './groups/change-endpoints.ts'
import * as groups from './groups/endpoints.ts'
import * as groupsRelated from './groups/related-endpoints.ts'
import { removeGroup, removeMarkedGroups } from './groups/remove-group.ts'
import * as membersBillable from './members/billable/endpoints.ts'
import * as membersPending from './members/billable/pending-endpoints.ts'
import { removeBillable } from './members/billable/removal.ts'
import * as members from './members/endpoints.ts'
import * as membersInvitation from './members/invitations/endpoints.ts'
import { sendInvitation } from './members/invitations/invite.ts'
import * as membersRequest from './members/requests/endpoints.ts'
import { removeExpiredMembers } from './members/tasks.ts'
import * as namespaces from './namespaces/endpoints.ts'
import * as projects from './projects/endpoints.ts'
import * as projectsUser from './projects/list/user-endpoints.ts'
import { removeMarked } from './projects/removal/marked-task.ts'
import * as projectsShare from './projects/share-endpoints.ts'
import * as projectsState from './projects/state-endpoints.ts'
import {
  finishFork,
  measureProject,
  measureProjectSize,
  pointHeadTask,
  removeProject,
  tidyRepository,
} from './projects/tasks.ts'
import * as projectsTopic from './projects/topics/endpoints.ts'
import { sweepFilesTask } from './stored-files/sweep.ts'
import * as uploads from './uploads/endpoints.ts'

export const projectsArea: Manifest = {
  name: 'projects',
  endpoints: endpointsOf({
    'access requests': membersRequest,
    'access tokens': [accessTokensAssociations, accessTokensSource],
    'billable members': membersBillable,
    'deploy tokens': deployTokens,
    'pending members': membersPending,
    avatars,
    badges,
    groups: [groupsChange, groups, groupsRelated],
    invitations: membersInvitation,
    members,
    namespaces,
    projects: [projects, projectsShare, projectsState, projectsUser],
    topics: projectsTopic,
    uploads,
  }),
  tasks: [
    finishFork,
    measureProject,
    measureProjectSize,
    pointHeadTask,
    removeBillable,
    removeExpiredMembers,
    sendInvitation,
    removeGroup,
    removeMarked,
    removeMarkedGroups,
    removeProject,
    tidyRepository,
    sweepFilesTask,
  ],
  schedules: [
    daily('4:10', sweepFilesTask, {}),
    daily('0:05', removeExpiredMembers, {}),
    daily('3:15', removeMarked, {}),
    daily('3:20', removeMarkedGroups, {}),
  ],
  migrations: [membersByProviders],
}

import { endpointsOf, type Manifest } from '../manifest.ts'
import * as commitsComment from './commit-notes/comment-endpoints.ts'
import * as commitsDiscussion from './commit-notes/discussion-endpoints.ts'
import * as markdown from './markdown/endpoints.ts'
import { mentionCommits } from './references/commit-task.ts'
import * as todos from './todos/endpoints.ts'

export const discussionsArea: Manifest = {
  name: 'discussions',
  endpoints: endpointsOf({
    commits: [commitsComment, commitsDiscussion],
    markdown,
    todos,
  }),
  tasks: [mentionCommits],
  schedules: [],
  migrations: [],
}

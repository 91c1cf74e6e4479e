import { endpointsOf, type Manifest } from '../manifest.ts'
import * as releases from './releases/endpoints.ts'
import * as releasesEvidence from './releases/evidence-endpoints.ts'
import * as releasesGroup from './releases/group-endpoints.ts'
import * as snippets from './snippets/endpoints.ts'
import * as snippetsNote from './snippets/note-endpoints.ts'
import { removeSnippetTask } from './snippets/remove.ts'
import * as wikis from './wikis/endpoints.ts'

export const publishingArea: Manifest = {
  name: 'publishing',
  endpoints: endpointsOf({
    releases: [releases, releasesEvidence, releasesGroup],
    snippets: [snippets, snippetsNote],
    wikis,
  }),
  tasks: [removeSnippetTask],
  schedules: [],
  migrations: [],
}

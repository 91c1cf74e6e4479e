import type { Endpoint } from '../../http/endpoint.ts'
import type { Page } from '../page.ts'
import { home } from './home.tsx'
import { myIssuesPage } from './issues.tsx'
import { myMergeRequestsPage } from './merge-requests.tsx'
import { myProjectsPage } from './projects.tsx'
import { allTodosDoneForm, todoDoneForm, todosPage } from './todos.tsx'

export const dashboardPages: readonly Page[] = [
  home,
  todosPage,
  myMergeRequestsPage,
  myIssuesPage,
  myProjectsPage,
]

/** The forms of these pages, and their parts with an address of their own. */
export const dashboardParts: readonly Endpoint[] = [allTodosDoneForm, todoDoneForm]

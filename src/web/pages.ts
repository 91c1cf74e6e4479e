import type { Endpoint } from '../http/endpoint.ts'
import { accountPages, accountParts } from './account/pages.ts'
import { codePages, codeParts } from './code/pages.ts'
import { dashboardPages, dashboardParts } from './dashboard/pages.ts'
import { entryPages, entryParts } from './entry/pages.ts'
import type { Page } from './page.ts'
import { projectPages, projectParts } from './project/pages.ts'
import { reviewPages, reviewParts } from './review/pages.ts'
import { searchPages } from './search/pages.ts'

/** Every page, each at one address. */
export const pages: readonly Page[] = [
  ...dashboardPages,
  ...entryPages,
  ...searchPages,
  ...accountPages,
  ...projectPages,
  ...codePages,
  ...reviewPages,
]

/** What is served for people beside the API: pages, forms, and parts of pages. */
export const pageEndpoints: readonly Endpoint[] = [
  ...pages.map(({ endpoint }) => endpoint),
  ...dashboardParts,
  ...entryParts,
  ...accountParts,
  ...projectParts,
  ...codeParts,
  ...reviewParts,
]

import type { z } from 'zod'
import { text } from '../../http/params.ts'
import type { Level } from './access.ts'

/** npm sends a scoped name as one segment, `@scope%2fname`; other clients as two. */
export const NAMES: readonly { path: string; params: Record<string, z.ZodType<string>> }[] = [
  { path: ':package_name', params: { package_name: text() } },
  { path: ':scope/:package_name', params: { scope: text(), package_name: text() } },
]

export const ROOTS: Readonly<Record<Level, string>> = {
  project: '/projects/:id/packages/npm',
  group: '/groups/:id/-/packages/npm',
  instance: '/packages/npm',
}

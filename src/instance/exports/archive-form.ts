import { z } from 'zod'
import { realDay } from '../../planning/quick-actions/due-date.ts'
import { leftOutRelation } from './left-out.ts'

/** The form of an archive: a gzipped tar with these files. A program reads archives of its own form only. */
export const FORM = 'gitstead-export-1'

export const PROJECT_FILE = 'project.json'
export const GROUP_FILE = 'group.json'
export const BUNDLE_FILE = 'project.bundle'
/** Not in archives of projects without a wiki, nor in those of older programs. */
export const WIKI_FILE = 'project.wiki.bundle'
/** Large files are below it, each under its id; not in archives of older programs. */
export const LFS_FOLDER = 'lfs-objects'
export const FORM_FILE = 'VERSION'

export const label = z.object({
  name: z.string().max(255),
  color: z.string().max(32),
  description: z.string().max(500_000).nullable(),
  /** Not in archives of older programs, as what follows. */
  archived: z.boolean().optional(),
  priority: z.int().min(0).nullish(),
})
const day = z.string().refine((text) => realDay(text) !== undefined)
export const milestone = z.object({
  title: z.string().max(255),
  description: z.string().max(1_000_000).nullable(),
  start_date: day.nullable(),
  due_date: day.nullable(),
  state: z.enum(['active', 'closed']),
})

/** What an archive says of a project, besides its repository. */
export const projectRecord = z.object({
  form: z.literal(FORM),
  name: z.string().max(255),
  description: z.string().max(2000).nullable(),
  visibility: z.enum(['private', 'internal', 'public']),
  default_branch: z.string().max(1000).nullable(),
  topics: z.array(z.string().max(255)).max(100),
  settings: z.record(z.string().max(100), z.unknown()),
  labels: z.array(label).max(10_000),
  milestones: z.array(milestone).max(10_000),
  /** Not in archives of older programs. */
  left_out: z.array(leftOutRelation).max(100).optional(),
})
export type ProjectRecord = z.infer<typeof projectRecord>

const group = z.object({
  /** Below the exported group; empty for that itself. */
  relative_path: z.string().max(5000),
  name: z.string().max(255),
  path: z.string().max(255),
  description: z.string().max(500),
  visibility: z.enum(['private', 'internal', 'public']),
  project_creation_level: z.string().max(20),
  subgroup_creation_level: z.string().max(20),
  settings: z.record(z.string().max(100), z.unknown()),
  labels: z.array(label).max(10_000),
  milestones: z.array(milestone).max(10_000),
})

/** What an archive says of a group and the groups below it, parents before children. */
export const groupRecord = z.object({
  form: z.literal(FORM),
  groups: z.array(group).min(1).max(1000),
})
export type GroupRecord = z.infer<typeof groupRecord>
export type GroupEntry = GroupRecord['groups'][number]

/** `a/b` of `a/b/c`; empty for what is right below the exported group. */
export function groupAbove(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

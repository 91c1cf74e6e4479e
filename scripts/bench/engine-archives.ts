import { askWhole, type Project } from './api.ts'
import { compare, git, type Row } from './measure.ts'
import type { Measurement } from './question.ts'
import type { Subjects } from './subjects.ts'

/** Archives of every format against `git archive`. */
export function archives({ line }: Subjects): Measurement[] {
  return formats.map(([format, limit]) => ({
    what: `archive ${format}`,
    measure: (project) => archiveRow(project, line, format, limit),
  }))
}

const formats: readonly (readonly [string, number])[] = [
  ['tar', 1.2],
  ['tar.gz', 0.6],
  ['zip', 1.3],
]

async function* archiveRow(
  project: Project,
  line: readonly string[],
  format: string,
  limit: number,
): AsyncGenerator<Row> {
  const args = ['archive', `--format=${format}`, '--output=/dev/null']
  yield await compare(
    `archive ${format}`,
    3,
    (n) => askWhole(project, `archive.${format}?sha=${line[n] ?? 'HEAD'}`),
    (n) => git(project.stored, [...args, line[n] ?? 'HEAD']),
    limit,
  )
}

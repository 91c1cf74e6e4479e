import type { Project } from './api.ts'
import { archives } from './engine-archives.ts'
import { contents } from './engine-contents.ts'
import { histories } from './engine-history.ts'
import { merges } from './engine-merges.ts'
import { people } from './engine-people.ts'
import { relations } from './engine-relations.ts'
import { writes } from './engine-writes.ts'
import type { Row } from './measure.ts'
import { chosen } from './question.ts'
import { chooseSubjects } from './subjects.ts'

/** The REST API of repositories against the git program doing the same work. */
export async function* benchEngine(
  project: Project,
  rows: readonly string[] | undefined,
  say: (line: string) => void,
): AsyncGenerator<Row> {
  const subjects = await chooseSubjects(project.stored)
  const all = [
    ...contents(subjects),
    ...histories(subjects),
    ...relations(subjects),
    ...archives(subjects),
    // From here on there are pushes, and upkeep after them.
    ...people(subjects),
    ...writes(),
    ...merges(subjects),
  ]
  for (const one of chosen(all, rows)) {
    say(one.what)
    yield* one.measure(project)
  }
}

import { done, examples, owner } from '../contract/example.ts'

const note = { body: { body: 'text' } }
const emoji = { body: { name: 'rocket' } }

export const discussionExamples = examples({
  ...Object.fromEntries(
    ['P/IS', 'P/MR', 'P/snippets/:snippet_id'].flatMap((thing) => [
      [`POST ${thing}/notes`, note],
      [`PUT ${thing}/notes/:note_id`, note],
      [`POST ${thing}/discussions`, note],
      [`POST ${thing}/discussions/:discussion_id/notes`, note],
      [`PUT ${thing}/discussions/:discussion_id/notes/:note_id`, note],
      [`POST ${thing}/award_emoji`, emoji],
      [`POST ${thing}/notes/:note_id/award_emoji`, emoji],
    ]),
  ),
  'PUT P/IS/discussions/:discussion_id': { body: { resolved: true } },
  'PUT P/MR/discussions/:discussion_id': { body: { resolved: true } },
  'POST P/repository/commits/:sha/discussions': note,
  'POST P/repository/commits/:sha/discussions/:discussion_id/notes': note,
  'PUT P/repository/commits/:sha/discussions/:discussion_id/notes/:note_id': note,
  'POST P/repository/commits/:sha/comments': { body: { note: 'text' } },
  'POST /markdown': { body: { text: '**bold**' } },
  'POST /todos/:todo_id/mark_as_done': {
    async prepare(spot) {
      const todo = await done(
        owner(spot),
        'POST',
        `/projects/${spot.place.project.id}/issues/${spot.place.project.issue_iid}/todo`,
      )
      return { todo_id: String(todo.id) }
    },
  },
})

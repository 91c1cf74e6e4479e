import { listTodos, markAllTodosAsDone, markTodoAsDone } from '../../discussions/todos/endpoints.ts'
import { call } from '../../http/call/call.ts'
import { integer, oneOf } from '../../http/params.ts'
import { withQuery } from '../address.ts'
import { form } from '../form.ts'
import { page } from '../page.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { Choices } from './choices.tsx'
import { TodoList } from './todo-list.tsx'

const ADDRESS = '/dashboard/todos'
const PER_PAGE = 20
const states = [
  ['pending', 'To do'],
  ['done', 'Done'],
] as const

export const todosPage = page({
  address: ADDRESS,
  summary: 'My to-dos',
  signedIn: true,
  query: {
    state: oneOf(['pending', 'done']).default('pending'),
    page: integer({ min: 1 }).default(1),
  },
  api: ({ query }) => withQuery('/todos', query),
  async read(ctx, { query: { state, page } }) {
    const query = { state, page, per_page: PER_PAGE }
    return { state, page, found: await call(listTodos, ctx, { path: {}, query }) }
  },
  title: () => 'To-dos · Gitstead',
  view: ({ state, page: number, found }) => (
    <div class="narrow stack">
      <div class="row between">
        <h1>To-dos</h1>
        {state === 'pending' && found.items.length > 0 && (
          <ButtonForm
            action="/dashboard/todos/all_done"
            label="Mark all as done"
            confirm="Mark all to-dos as done?"
          />
        )}
      </div>
      <Choices label="State" address={ADDRESS} name="state" options={states} current={state} />
      {found.items.length === 0 && (
        <Blank icon="check-circle" title="Nothing here">
          <p>What others ask of you comes here: reviews, assignments, mentions.</p>
        </Blank>
      )}
      <TodoList todos={found.items} />
      <Pages
        page={number}
        perPage={PER_PAGE}
        total={found.total}
        more={found.more}
        address={withQuery(ADDRESS, { state })}
      />
    </div>
  ),
})

export const todoDoneForm = form({
  address: '/dashboard/todos/:todo_id/done',
  summary: 'Mark a to-do of the caller as done',
  endpoint: markTodoAsDone,
  input: ({ path }) => ({ path }),
})

export const allTodosDoneForm = form({
  address: '/dashboard/todos/all_done',
  summary: 'Mark all to-dos of the caller as done',
  endpoint: markAllTodosAsDone,
  input: () => ({ path: {} }),
  flash: 'All to-dos are done.',
})

import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { readMarked } from '../../discussions/notes/commands.ts'
import { knownLabels } from '../labels/set-labels.ts'
import { listMilestonesByTitle } from '../milestones/queries.ts'
import { presentMilestonesById } from '../milestones/verbs.ts'
import { placeOfProject } from '../place.ts'
import { type CommandContext, type CommandTable, named } from './command-context.ts'
import { months, readDay } from './due-date.ts'

/** The labels of an argument that the project knows: commands make no new ones. */
async function labelsIn(ctx: Ctx, context: CommandContext, argument: string) {
  const titles = context.maySort ? readMarked(argument, '~').slice(0, 100) : []
  return titles.length === 0 ? [] : await knownLabels(ctx, context.project, titles)
}

function list(labels: readonly { readonly title: string }[]): string {
  const names = labels.map(({ title }) => (/\s/.test(title) ? `~"${title}"` : `~${title}`))
  return `${names.join(' ')} label${names.length === 1 ? '' : 's'}`
}

async function addLabels(ctx: Ctx, context: CommandContext, argument: string) {
  const labels = await labelsIn(ctx, context, argument)
  if (labels.length === 0) return undefined
  const titles = labels.map((label) => label.title)
  context.edits.add_labels = [...(context.edits.add_labels ?? []), ...titles]
  const ids = labels.map((label) => label.id)
  return { changes: { add_label_ids: ids }, message: `Added ${list(labels)}.` }
}

async function removeLabels(ctx: Ctx, context: CommandContext, argument: string) {
  if (!context.maySort) return undefined
  if (argument === '') {
    if (context.labels.length === 0) return undefined
    context.edits.labels = []
    return { changes: { label_ids: [] }, message: 'Removed all labels.' }
  }
  const labels = await labelsIn(ctx, context, argument)
  const found = labels.filter((label) => context.labels.includes(label.title))
  if (found.length === 0) return undefined
  const titles = found.map((label) => label.title)
  context.edits.remove_labels = [...(context.edits.remove_labels ?? []), ...titles]
  const ids = found.map((label) => label.id)
  return { changes: { remove_label_ids: ids }, message: `Removed ${list(found)}.` }
}

async function replaceLabels(ctx: Ctx, context: CommandContext, argument: string) {
  const labels = await labelsIn(ctx, context, argument)
  if (labels.length === 0) return undefined
  context.edits.labels = labels.map((label) => label.title)
  const ids = labels.map((label) => label.id)
  return { changes: { label_ids: ids }, message: `Replaced all labels with ${list(labels)}.` }
}

async function setMilestone(ctx: Ctx, context: CommandContext, argument: string) {
  if (!context.maySort || argument === '') return undefined
  const title = argument.startsWith('%') ? readMarked(argument, '%')[0] : argument
  const place = placeOfProject(context.project)
  const [milestone] = await listMilestonesByTitle(ctx.db, place, [title ?? ''])
  if (!milestone) return undefined
  context.edits.milestone_id = milestone.id
  return {
    changes: { milestone_id: milestone.id },
    message: `Set the milestone to %${milestone.title}.`,
  }
}

async function removeMilestone(ctx: Ctx, context: CommandContext) {
  const before = context.milestoneId
  if (!context.maySort || before === null) return undefined
  const title = (await presentMilestonesById(ctx, [before])).get(before)?.title ?? ''
  context.edits.milestone_id = null
  return { changes: { milestone_id: null }, message: `Removed %${title} milestone.` }
}

export const sortingCommands: CommandTable<CommandContext> = {
  ...named(['label', 'labels'], addLabels),
  ...named(['unlabel', 'remove_label'], removeLabels),
  relabel: replaceLabels,
  milestone: setMilestone,
  remove_milestone: removeMilestone,
}

function spoken(day: string): string {
  const [year = '', month = '1', date = '1'] = day.split('-')
  return `${months[Number(month) - 1]} ${Number(date)}, ${year}`
}

function setDueDate(ctx: Ctx, context: CommandContext, argument: string) {
  const day = context.maySort ? readDay(argument, dayOf(ctx.now())) : undefined
  if (day === undefined) return undefined
  context.edits.due_date = day
  return { changes: { due_date: day }, message: `Set the due date to ${spoken(day)}.` }
}

function removeDueDate(_: Ctx, context: CommandContext) {
  if (!context.maySort) return undefined
  context.edits.due_date = null
  return { changes: { due_date: null }, message: 'Removed the due date.' }
}

function setWeight(_: Ctx, context: CommandContext, argument: string) {
  if (!context.maySort || !/^\d{1,9}$/.test(argument)) return undefined
  context.edits.weight = Number(argument)
  return { changes: { weight: Number(argument) }, message: `Set weight to ${Number(argument)}.` }
}

function clearWeight(_: Ctx, context: CommandContext) {
  if (!context.maySort) return undefined
  context.edits.weight = null
  return { changes: { weight: null }, message: 'Cleared weight.' }
}

export const planningCommands: CommandTable<CommandContext> = {
  due: setDueDate,
  remove_due_date: removeDueDate,
  weight: setWeight,
  clear_weight: clearWeight,
}

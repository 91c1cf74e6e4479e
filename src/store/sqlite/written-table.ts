import {
  type CompiledQuery,
  DeleteQueryNode,
  InsertQueryNode,
  type OperationNode,
  RawNode,
  TableNode,
  UpdateQueryNode,
} from 'kysely'

const plainWrite =
  /^\s*(?:(?:insert|replace)(?:\s+or\s+\w+)?\s+into|update(?:\s+or\s+\w+)?|delete\s+from)\s+"?(\w+)"?[\s(;]/i

/** The table that a statement writes by its name; undefined when that cannot be seen. */
export function writtenTable({ query, sql }: CompiledQuery): string | undefined {
  if (RawNode.is(query)) return plainWrite.exec(`${sql} `)?.[1]?.toLowerCase()
  if (InsertQueryNode.is(query)) return query.into && nameOf(query.into)
  if (UpdateQueryNode.is(query)) return query.table && nameOf(query.table)
  return DeleteQueryNode.is(query) ? query.from.froms[0] && nameOf(query.from.froms[0]) : undefined
}

function nameOf(node: OperationNode): string | undefined {
  return TableNode.is(node) ? node.table.identifier.name : undefined
}

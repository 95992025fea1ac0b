import type { CallToolResult } from '@modelcontextprotocol/client'
import { connectMcp, tokensOf } from '../../support/mcp.ts'
import type { Teardown } from '../../support/site.ts'

// biome-ignore lint/suspicious/noExplicitAny: an agent reads answers of every shape
type Structured = any

/** What an agent has spent since its counters were last read. */
export type Spent = { calls: number; tokens: number }

/** An agent that works through MCP alone. It counts its calls and the tokens of the answers. */
export type Agent = {
  /** Calls a tool and returns its structured answer. Throws when the tool answers with an error. */
  call: (name: string, args?: object) => Promise<Structured>
  /** Calls a tool that is expected to refuse, and returns the error with what to do next. */
  refused: (name: string, args: object) => Promise<Structured>
  /** The tokens of `tools/list`, which clients put into the context of their model once. */
  toolTokens: number
  /** Returns what was spent since the last time, and counts anew. */
  spent: () => Spent
}

/** Connects an agent to a service by the official client, with the protocol 2026-07-28. */
export async function startAgent(t: Teardown, service: { origin: string; token: string }): Promise<Agent> {
  const { client, call: callTool } = await connectMcp(t, service)
  const { tools } = await client.listTools()
  let spent: Spent = { calls: 0, tokens: 0 }
  const counted = async (name: string, args: object): Promise<CallToolResult> => {
    const result = await callTool(name, args)
    spent = { calls: spent.calls + 1, tokens: spent.tokens + tokensOf(result) }
    return result
  }
  return {
    toolTokens: Math.ceil(JSON.stringify(tools).length / 4),
    async call(name, args = {}) {
      const { isError, structuredContent } = await counted(name, args)
      if (isError) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(structuredContent)}`)
      return structuredContent
    },
    async refused(name, args) {
      const { isError, structuredContent } = await counted(name, args)
      if (!isError) throw new Error(`${name} ${JSON.stringify(args)} was not refused`)
      return (structuredContent as Structured).error
    },
    spent() {
      const taken = spent
      spent = { calls: 0, tokens: 0 }
      return taken
    },
  }
}

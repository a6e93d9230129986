/** Stand-in for `@langchain/langgraph`: the type that the pages use. */
export interface BaseCheckpointSaver {
  getTuple(config: object): Promise<object | undefined>
}

#include "node/orders/verdict.h"

#include "node/orders/orders.h"
#include "node/orders/proofs.h"

const char *verdict_reason(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct order *order = orders_expelling(node, id);
    if (order)
        return order->reason;
    const struct proof *proof = proofs_against(node, id);
    if (!proof)
        return NULL;
    return proof->kind == PROOF_EQUIVOCATION ? "it signed two different rumors under one number"
           : proof->kind == PROOF_EXCESS     ? "it signed a rumor beyond the limits of the protocol"
                                             : "most members signed that its updates are harmful";
}

uint32_t verdict_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation)
{
    const struct proof *proof = proofs_in_force(node, id);
    const uint32_t ordered = orders_keep(node, id, incarnation);
    const uint32_t proven = proof ? proof_keeps(proof, incarnation) : UINT32_MAX;
    return u32_min(ordered, proven);
}

"""CANopen over EtherCAT: mailboxes, object dictionary, PDO mapping."""

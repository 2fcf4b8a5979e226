DELETE FROM nodes WHERE id = :id AND boot = :boot;
